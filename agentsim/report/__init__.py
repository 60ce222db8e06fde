"""Pages: a history, or many games, as one self-contained HTML document."""
