"""Events of the market: what the moderator and an agent say to each other; no other agent hears it."""

from __future__ import annotations

from agentsim.engine.event import Event


class _Signalled(Event, heading="The moderator to {agent}"):
    agent: str


class Paused(_Signalled, content="PAUSE"): ...


class Asked(Event, heading="The moderator asks {agent}", words="question"):
    agent: str
    question: str


class Answered(Event, heading="{agent} answers the moderator", words="text"):
    agent: str
    text: str


class Resumed(_Signalled, content="RESUME"): ...
