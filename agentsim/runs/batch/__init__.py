"""Batches: many games of one scenario, planned, played and resumed."""
