"""The adversary of the sharing service: a client with many guises that links what it is given (galozy, figure 5)."""
