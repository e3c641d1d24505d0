"""Auditing tables that stay where they are stored: an engine checks them, counts, joins, and scores shards."""
