"""What the tests of Werewolf share: a village whose roles are set, and decisions in a few letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.game import Bot
from agentsim.engine.request import Request
from agentsim.engine.simulate import Simulation, simulate
from agentsim.games.werewolf import GAME
from agentsim.games.werewolf.state import ROLES
from agentsim.games.werewolf.words import Died, Named, Remark, Speech, Unmasked

ROLE_OF = {role[0]: role for role in ROLES if role != "villager"} | {"v": "villager"}
VILLAGE = {"A": "w", "B": "w", "C": "s", "D": "d", "E": "v", "F": "v", "G": "v"}
"""Two werewolves, a seer, a doctor, three villagers."""


def quiet(request: Request[Any], rng: Stream) -> Decision:
    """Says nothing and names nobody."""
    return request.fallback()  # type: ignore[no-any-return] # of any request


def play(
    answers: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    seats: Mapping[str, str] = VILLAGE,
    *,
    bot: Bot | str = quiet,
    chance: Mapping[str, Sequence[Any]] | None = None,
    **config: Any,
) -> Simulation:
    """A game; answers by kind and player, one for each time: whom to name, what to whisper, "words | claim" to say."""
    roles = [ROLE_OF[letter] for letter in seats.values()]
    terms = {role: roles.count(role) for role in ("werewolf", "seer", "doctor")}
    cast = {"werewolves": terms["werewolf"], "seer": bool(terms["seer"]), "doctor": bool(terms["doctor"])}
    given = {
        kind: {player: [_decision(kind, each) for each in said] for player, said in by.items()}
        for kind, by in (answers or {}).items()
    }
    draws = {"roles": [roles], **(chance or {})}
    return simulate(GAME, {"max_days": 1, **cast, **config}, list(seats), given, bot=bot, chance=draws)


def _decision(kind: str, said: str) -> Decision:
    if kind == "whisper":
        return Remark(text=said)
    if kind == "speak":
        text, _, claim = said.partition(" | ")
        return Speech(thought="", text=text, claim=claim or "none")
    return Named(thought="", target=said)


def each(players: str, target: str) -> dict[str, list[str]]:
    """All these name that one, once."""
    return {player: [target] for player in players}


def deaths(played: Simulation) -> list[tuple[str, str | None]]:
    return [(event.at, event.victim) for event in played.events(Died)]


def winners(played: Simulation) -> str | None:
    (unmasked,) = played.events(Unmasked)
    team: str | None = unmasked.winners
    return team


def heard(played: Simulation, player: str, kind: type[Any]) -> list[Any]:
    """The events of a class that a player heard."""
    return [told.event for told in played.log if told.heard_by(player) and isinstance(told.event, kind)]


def asked(played: Simulation, kind: str) -> list[Any]:
    return [ask.request for ask in played.asks() if ask.request.kind == kind]


def kinds(played: Simulation) -> list[list[str]]:
    """What is asked in each wave, as `A hunt`."""
    return [[f"{ask.request.player} {ask.request.kind}" for ask in wave.asks] for wave, _ in played.waves]
