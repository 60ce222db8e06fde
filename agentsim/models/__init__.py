"""Models: one prompt in, one completion out, whatever the provider does. Games and players are unknown here."""
