"""Runs: scenarios played, resumed, forked and replayed. Displays and pages are elsewhere."""
