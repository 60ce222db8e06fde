"""Bots: scripted players, pure functions of the request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentsim.engine import Bot, Decision, Request, Stream
from agentsim.games.werewolf.state import NOBODY
from agentsim.games.werewolf.words import Inspect, Named, Naming, Remark, Speak, Speech, Vote, WerewolfRequest


def candid(request: Request[Any], rng: Stream) -> Decision:
    """Play openly: a seer tells its findings, and the village follows.

    Werewolves pose as villagers and spare each other.
    """
    assert isinstance(request, WerewolfRequest)
    if isinstance(request, Naming):
        cleared = {said.seen for said in request.claims if isinstance(request, Vote) and not said.werewolf}
        wanted = [player for player in _wanted(request) if player in request.targets]
        rest = [player for player in request.targets if player not in cleared.union(request.pack)]
        return Named(thought="As far as I know.", target=rng.pick(wanted or rest or [NOBODY]))
    if not isinstance(request, Speak):
        return Remark(text="Let us pass for villagers.")
    seen = [[each.target, each.werewolf] for each in request.found]
    told = [claim for claim, (_, *found) in request.claimable.items() if found in seen]
    hidden = "none" if request.role in {"seer", "doctor"} or "villager" not in request.roles else "villager"
    return Speech(thought="", text="I say what I know.", claim=(*told, hidden)[0])


def _wanted(request: Naming) -> list[str | None]:
    """Return the preferred targets: players seen as werewolves by day, players who claim to be the seer by night.

    A seer prefers players that it has not inspected.
    """
    if isinstance(request, Inspect):
        return [player for player in request.targets if player not in {each.target for each in request.found}]
    if not isinstance(request, Vote):
        return [said.speaker for said in request.claims if said.claim == "seer"]
    seen: list[str | None] = [each.target for each in request.found if each.werewolf]
    return seen or [said.seen for said in request.claims if said.werewolf and said.seen not in request.pack]


BOTS: Mapping[str, Bot] = {"candid": candid}
