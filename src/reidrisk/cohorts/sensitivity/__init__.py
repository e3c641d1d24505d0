"""Which cohorts give a sensitive category away, how sure that is, and what to block."""
