"""The page of a run: a history in, one self-contained HTML text out. Nothing is opened, called or played here."""
