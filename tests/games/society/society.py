"""Helpers of the Society tests: play a society in one line, and query the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.event import Event, LoggedEvent
from agentsim.engine.game import Bot
from agentsim.engine.request import Request
from agentsim.engine.simulate import Simulation, simulate
from agentsim.games.society import GAME
from agentsim.games.society.amounts import number
from agentsim.games.society.evening import DayEnded, Idle
from agentsim.games.society.requests import ACTIONS, Act, Acted
from agentsim.games.society.turn import InvalidAction

TERMS: Mapping[str, Mapping[str, Any]] = {
    "tax": {"kind": "tax", "resource": "food", "percent": 10},
    "dividend": {"kind": "dividend", "resource": "food", "amount": 0.5, "to": "all"},
    "farm": {"kind": "build", "what": "farm"},
}


Turns: TypeAlias = Mapping[int, Sequence[Any]]
"""The actions of each agent, in the forms of `acted`."""


def acted(spelt: str | Mapping[str, Any] | Acted) -> Acted:
    """Return an action, from a line (`work farm 3`, `trade 2 food 1.5`, `vote 1 yes`) or from the fields of a reply."""
    if isinstance(spelt, Acted):
        return spelt
    if not isinstance(spelt, str):
        return Acted.model_validate({"action": dict(spelt)})
    name, *given = spelt.split()
    if name == "post":
        return acted({"action": "forum_post", "content": " ".join(given)})
    fields = [field for field in ACTIONS[name].model_fields if field != "action"]
    if fields[-1] in {"content", "display_name", "reasoning"} and len(given) >= len(fields):
        given = [*given[: len(fields) - 1], " ".join(given[len(fields) - 1 :])]
    return acted({"action": name, **dict(zip(fields, given, strict=False))})


def law(title: str = "Law", *terms: Mapping[str, Any], type_: str = "law") -> dict[str, Any]:
    """Return the fields of a proposal."""
    return {
        "action": "create_proposal",
        "title": title,
        "description": f"About {title}.",
        "proposal_type": type_,
        "terms": list(terms),
    }


def idles(request: Request[Any], rng: Stream) -> Decision:
    return Acted(action=Idle())


def play(
    turns: Turns | None = None,
    *,
    agents: int = 4,
    bot: Bot | str = idles,
    order: Sequence[Sequence[int]] = (),
    seed: int | str = 1,
    **config: Any,
) -> Simulation:
    """Play a society with these actions, one a turn; `bot` decides the other turns. It lasts one day by default.

    `order` are the first orders of actions in a tick, as numbers of agents.
    """
    answers = {
        "act": {f"agent{agent}": [acted(spelt) for spelt in actions] for agent, actions in (turns or {}).items()}
    }
    players = [f"agent{number}" for number in range(1, agents + 1)]
    settings = {"days": 1, "actions_per_day": 1, **config}
    return simulate(
        GAME, settings, players, answers, bot=bot, seed=seed, chance={"order": list(order)} if order else None
    )


def request(played: Simulation, agent: int, turn: int = -1) -> Act:
    """Return the request of an agent's turn, by default the last."""
    asked = played.asks(f"agent{agent}")[turn].request
    assert isinstance(asked, Act)
    return asked


def held(played: Simulation, agent: int) -> tuple[float, float, float]:
    """Return the food, energy and materials of an agent at the end."""
    score = next(place.score for place in played.outcome.standings if place.player == f"agent{agent}")
    return score["food"], score["energy"], score["materials"]


def pool(played: Simulation, resource: str) -> float:
    """Return the stock of the common pool on the last evening."""
    return number(played.events(DayEnded)[-1].totals[resource].pool)


def rejections(played: Simulation, agent: int | None = None) -> list[str]:
    """Return the reasons of rejected actions, in order."""
    return [event.reason for event in played.events(InvalidAction) if agent in {None, event.agent}]


def told(played: Simulation, kind: type[Event]) -> list[LoggedEvent]:
    """Return the logged events of one class."""
    return [entry for entry in played.log if isinstance(entry.event, kind)]
