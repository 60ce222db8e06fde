"""Histories and journals: what a run leaves behind, how it is written and read back. Playing is not done here."""
