"""Carey et al., Measuring re-identification risk."""
