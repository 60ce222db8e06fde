"""Bots of Society: scripted agents. Each is a pure function of the request and of streams of its own."""

from __future__ import annotations

from collections.abc import Mapping

from agentsim.engine.game import Bot
from agentsim.games.society.bots.simple import idle, random

__all__ = ["BOTS"]

BOTS: Mapping[str, Bot] = {"random": random, "idle": idle}
