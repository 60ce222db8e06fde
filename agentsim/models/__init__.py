"""Models: one prompt in, one completion out, for every provider. Nothing here depends on games or players."""
