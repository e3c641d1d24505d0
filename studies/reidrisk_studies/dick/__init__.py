"""Dick et al., Differentially private synthetic data release for Topics API outputs."""
