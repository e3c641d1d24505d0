"""The same from noisy counts alone."""
