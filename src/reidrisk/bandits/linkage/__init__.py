"""What the shared records give away."""
