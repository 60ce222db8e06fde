"""Players: models, bots and people that answer requests. They keep no memory and know no game's rules."""
