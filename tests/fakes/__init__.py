"""Fake model services, on loopback."""
