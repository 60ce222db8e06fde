"""Studies: factorial designs, plans, batches that stop at a width, reference pools, ratings, influence of messages."""
