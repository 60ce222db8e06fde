"""Runs: a scenario played, resumed, replayed. What it looks like, on a screen or a page, is not decided here."""
