"""Nim, as another distribution would write it: a typed game that imports the published vocabulary alone."""

from nim.game import GAME

__all__ = ["GAME"]
