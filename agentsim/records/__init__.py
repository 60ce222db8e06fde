"""Histories and journals: the files of a run, how they are written and read back. Playing is elsewhere."""
