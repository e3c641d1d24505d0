"""The best attack on a known population: exact posteriors under a mixture of types."""
