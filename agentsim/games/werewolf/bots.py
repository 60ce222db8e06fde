"""Bots: scripted players, pure functions of the request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentsim.engine import Bot, Decision, Request, Stream
from agentsim.engine.random_policy import random_decision
from agentsim.games.werewolf.requests import Inspect, Named, Naming, Question, Remark, Speak, Speech, Vote
from agentsim.games.werewolf.village import NOBODY


def candid(request: Request[Any], rng: Stream) -> Decision:
    """A seer tells what it has seen, and the village follows; werewolves pass for villagers and spare each other."""
    assert isinstance(request, Question)
    if isinstance(request, Naming):
        spared = {*request.pack, *(each.seen for each in request.claims if not each.werewolf)}
        wanted = [player for player in _wanted(request) if player in request.targets]
        targets = wanted or [player for player in request.targets if player not in spared] or [NOBODY]
        return Named(thought="As far as I know.", target=rng.pick(targets))
    if not isinstance(request, Speak):
        return Remark(text="Let us pass for villagers.")
    found = {f"seer: {each.content.rstrip('.')}" for each in request.found}
    told = [claim for claim in request.claimable if claim in found]
    pick = min(told, key=lambda claim: not request.claimable[claim][2]) if told else "villager"
    silent = not told and request.role in {"seer", "doctor"}
    return Speech(thought="", text="I say what I know.", claim="none" if silent else pick)


def _wanted(request: Naming) -> list[str | None]:
    """Whom a choice falls on where something is known: who was seen as a werewolf; at night, who claims to see."""
    if isinstance(request, Inspect):
        return [player for player in request.targets if player not in {each.target for each in request.found}]
    if not isinstance(request, Vote):
        return [said.speaker for said in request.claims if said.claim == "seer"]
    told = [said.seen for said in request.claims if said.werewolf and said.seen not in request.pack]
    return [each.target for each in request.found if each.werewolf] or told


BOTS: Mapping[str, Bot] = {"random": random_decision, "candid": candid}
