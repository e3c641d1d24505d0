"""What is shared: strategies, anonymisation, clusters, noise."""
