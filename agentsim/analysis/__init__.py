"""What many games say about those who played them. Reads histories; plays nothing, writes nothing."""
