"""Players: who answers a request: a model, a bot, a person. They keep no memory, and they know no game's rules."""
