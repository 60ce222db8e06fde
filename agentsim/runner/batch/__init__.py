"""Batches: many games of one scenario, planned, played, and gone on with."""
