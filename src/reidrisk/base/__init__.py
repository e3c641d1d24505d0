"""What everything stands on: errors, checks, random streams, intervals, user ids, results."""
