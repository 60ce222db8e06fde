"""Nim, as another distribution would write it: a typed game that imports only the published names."""

from nim.game import GAME

__all__ = ["GAME"]
