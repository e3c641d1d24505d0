"""What no attacker can beat, and how it relates to other notions of privacy."""
