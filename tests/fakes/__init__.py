"""Stand-ins for the world outside: a model server on loopback."""
