"""The recommender: environment, Thompson sampling, regret."""
