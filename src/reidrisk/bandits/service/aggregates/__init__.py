"""What is handed out, worked out from what was shared: batches, groups, noise and the risk that is left."""
