"""Two logs of the same time: who was there at the same moments, and then had the same items."""
