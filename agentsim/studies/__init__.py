"""Studies: factorial designs, plans, batches that end at a width, reference pools, ratings, influence of messages."""
