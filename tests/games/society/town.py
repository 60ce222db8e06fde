"""A town for tests of Society's rules: agents in one line each, replies as agents write them, and a check of sums.

An agent is written as its food, energy and materials, then `dormant` or `dead`, then its evenings without enough:
`"0 2.5 0 dormant 4"`. Every reply is read by the request that asks for it. Amounts in tests are decimals. After every
tick the changes told by events must add up to those of agents and pool.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

import pytest

from agentsim.engine.chance import Chance, Stream
from agentsim.engine.event import Event
from agentsim.engine.game import Outcome
from agentsim.engine.play import GamePlay
from agentsim.games.society import GAME, game
from agentsim.games.society.building import Contributed, ProjectBegan, UpkeepPaid
from agentsim.games.society.config import Personality, SocietyConfig
from agentsim.games.society.evening import Consumed
from agentsim.games.society.requests import Act, Acted
from agentsim.games.society.shocks import ShockStruck
from agentsim.games.society.state import State, founded
from agentsim.games.society.turn import InvalidAction
from agentsim.games.society.view import Told
from agentsim.games.society.work import Worked

__all__ = [
    "IDLE",
    "Town",
    "allocation",
    "build",
    "contribute",
    "dividend",
    "giving",
    "law",
    "message",
    "minimum",
    "naming",
    "post",
    "propose",
    "repeal",
    "reply",
    "rule",
    "tax",
    "vote",
    "work",
]

E = TypeVar("E", bound=Event)
Spelt: TypeAlias = Mapping[str, Any] | str
RESOURCES = ("food", "energy", "materials")
RICH = "10 10 5"
IDLE = {"action": "idle"}

# replies


def work(kind: str = "farm", hours: Any = 1) -> dict[str, Any]:
    return {"action": "work", "work_type": kind, "hours": hours}


def giving(to: Any, resource: Any, amount: Any) -> dict[str, Any]:
    return {"action": "trade", "recipient_agent_id": to, "resource_type": resource, "amount": amount}


def contribute(project: Any, amount: Any) -> dict[str, Any]:
    return {"action": "contribute", "project_id": project, "amount": amount}


def vote(proposal: Any, cast: Any = "yes", **more: Any) -> dict[str, Any]:
    return {"action": "vote", "proposal_id": proposal, "vote": cast, **more}


def propose(type_: Any = "law", *terms: Any, title: Any = "Title", description: Any = "Words.") -> dict[str, Any]:
    said = {"action": "create_proposal", "title": title, "description": description, "proposal_type": type_}
    return {**said, "terms": list(terms)} if terms else said


def post(content: Any) -> dict[str, Any]:
    return {"action": "forum_post", "content": content}


def reply(parent: Any, content: Any) -> dict[str, Any]:
    return {"action": "forum_reply", "parent_message_id": parent, "content": content}


def message(to: Any, content: Any) -> dict[str, Any]:
    return {"action": "direct_message", "recipient_agent_id": to, "content": content}


def naming(name: Any) -> dict[str, Any]:
    return {"action": "set_name", "display_name": name}


# terms and founding laws


def tax(percent: Any, resource: str = "all") -> dict[str, Any]:
    return {"kind": "tax", "resource": resource, "percent": percent}


def dividend(amount: Any, resource: str = "food", to: str = "all") -> dict[str, Any]:
    return {"kind": "dividend", "resource": resource, "amount": amount, "to": to}


def allocation(amount: Any, *agents: Any, resource: str = "food") -> dict[str, Any]:
    return {"kind": "allocation", "resource": resource, "amount": amount, "agents": list(agents)}


def minimum(hours: Any) -> dict[str, Any]:
    return {"kind": "work_minimum", "hours": hours}


def repeal(number: Any) -> dict[str, Any]:
    return {"kind": "repeal", "law": number}


def rule(threshold: Any = 50, quorum: Any = 0) -> dict[str, Any]:
    return {"kind": "voting_rule", "threshold": threshold, "quorum": quorum}


def build(what: str = "farm") -> dict[str, Any]:
    return {"kind": "build", "what": what}


def law(*terms: Mapping[str, Any], title: str = "Founding") -> dict[str, Any]:
    return {"title": title, "terms": list(terms)}


class _InOrder(Stream):
    """A stream whose order begins with the agents in `first`; the others follow by number."""

    first: Sequence[int] = ()

    def shuffled(self, items: Sequence[Any]) -> list[Any]:
        named = [item for item in self.first if item in items]
        return [*named, *(item for item in items if item not in named)]


class _Ordered(Chance):
    """Chance in which actions happen in the order of a test."""

    def __init__(self, seed: int | str, script: Mapping[str, Sequence[Any]] | None) -> None:
        super().__init__(seed, script)
        self.order = _InOrder("order")

    def stream(self, name: str) -> Stream:
        return self.order if name == "order" else super().stream(name)


class Town:
    """A game that begins from a given position and stops before each tick."""

    def __init__(
        self,
        *agents: str,
        pool: str = "2000 1000 500 1000",
        chance: Mapping[str, Sequence[Any]] | None = None,
        **config: Any,
    ) -> None:
        lines = agents or (RICH, RICH, RICH)
        settled = SocietyConfig.from_toml(config)
        self.play = GamePlay(GAME, settled, [f"p{number}" for number in range(1, len(lines) + 1)], 1)
        self.chance = self.play.table.chance = _Ordered(1, chance)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(game, "founded", lambda *given: _arranged(lines, pool, *given))
            self.wave = self.play.start()
        self._since = 0

    # -- play

    def tick(self, replies: Mapping[int, Spelt] | None = None) -> Town:
        """Play one tick; actions happen in the order of `replies`, and all other agents idle."""
        self._since = len(self.play.log)
        self._advance(dict(replies or {}))
        return self

    def day(self, *ticks: Mapping[int, Spelt]) -> Town:
        """Play the rest of the day with its evening; the first ticks are given, in the others all agents idle."""
        since, day = len(self.play.log), self.state.day
        given = list(ticks)
        while self.wave is not None and self.state.day == day:
            self.tick(given.pop(0) if given else None)
        assert not given, "the day was over before"
        self._since = since
        return self

    def decree(self, *proposals: Mapping[str, Any]) -> Town:
        """Play a day on which the first active agent makes these proposals and votes for them; for `voting_days=1`."""
        first, count = self.active[0], self.state.assembly.proposed
        votes: list[Mapping[int, Spelt]] = [
            {first: vote(number)} for number in range(count + 1, count + len(proposals) + 1)
        ]
        return self.day(*({first: proposal} for proposal in proposals), *votes)

    def _advance(self, replies: dict[int, Spelt]) -> None:
        assert self.wave is not None, "the game is over"
        self.chance.order.first = list(replies)
        decisions = []
        for ask in self.wave.asks:
            assert isinstance(ask.request, Act)
            said = replies.pop(ask.request.you.agent, IDLE)
            decision = ask.request.parse(said if isinstance(said, str) else json.dumps(said)).decision
            assert Acted.model_validate_json(decision.model_dump_json()) == decision
            decisions.append(decision)
        assert not replies, f"not awake: {list(replies)}"
        before = {resource: self._all(resource) for resource in (*RESOURCES, "land")}
        since = len(self.play.log)
        self.wave = self.play.answer(decisions)
        for resource, amount in before.items():
            assert self._all(resource) == amount + sum(_change(t.event, resource) for t in self.play.log[since:])

    def _all(self, resource: str) -> int:
        of_agents = 0 if resource == "land" else sum(each.stock[resource] for each in self.state.citizens)  # type: ignore[index,misc] # land is not held
        return of_agents + self.state.pool[resource]

    # -- queries

    @property
    def state(self) -> State:
        state = self.play.table.watched
        assert isinstance(state, State)
        return state

    @property
    def outcome(self) -> Outcome:
        assert self.play.outcome is not None, "the game goes on"
        return self.play.outcome

    @property
    def active(self) -> list[int]:
        """The agents that are asked in the next tick."""
        return list(self.asked)

    @property
    def asked(self) -> dict[int, Act]:
        """The requests of the next tick, by agent."""
        assert self.wave is not None, "the game is over"
        acts = [ask.request for ask in self.wave.asks if isinstance(ask.request, Act)]
        return {act.you.agent: act for act in acts}

    def held(self, agent: int) -> str:
        """Return the stock of an agent: `"10 9.5 5"`."""
        return " ".join(_shown(amount) for amount in self.state.citizen(agent).stock.values())

    @property
    def pool(self) -> str:
        """The stock of the pool, land last."""
        return " ".join(_shown(self.state.pool[resource]) for resource in (*RESOURCES, "land"))

    def status(self, agent: int) -> str:
        return self.state.citizen(agent).status

    def told(self, kind: type[E]) -> list[Any]:
        """Return the logged events of one class in the latest tick or day."""
        return [entry for entry in self.play.log[self._since :] if isinstance(entry.event, kind)]

    def events(self, kind: type[E]) -> list[Any]:
        return [entry.event for entry in self.told(kind)]

    def kinds(self) -> list[str]:
        """Return the kinds of all events of the latest tick or day, in order, without `idled`."""
        return [entry.event.kind for entry in self.play.log[self._since :] if entry.event.kind != "idled"]

    def refused(self) -> list[tuple[int, str]]:
        """Return (agent, reason) of every rejected action in the latest tick or day."""
        return [(event.agent, event.reason) for event in self.events(InvalidAction)]

    def notices(self, agent: int) -> list[Told]:
        """Return the events that an agent's next request shows as news."""
        return self.asked[agent].you.memory.news()


def _arranged(lines: Sequence[str], pool: str, config: SocietyConfig, players: Any, personalities: Any) -> State:
    dealt: list[Personality] = list(personalities)
    plain = founded(config, players, dealt)
    for citizen, line in zip(plain.citizens, lines, strict=True):
        food, energy, materials, *more = line.split()
        citizen.stock = {"food": _cents(food), "energy": _cents(energy), "materials": _cents(materials)}
        citizen.starved = int(more[1]) if len(more) > 1 else 0
    state = State(
        config,
        plain.citizens,
        {**plain.pool, **dict(zip((*RESOURCES, "land", "commons"), map(_cents, pool.split()), strict=False))},
        plain.forum,
        plain.assembly,
    )
    for citizen, line in zip(state.citizens, lines, strict=True):
        for status in ("dormant", "dead"):
            if status in line:
                citizen.status = status
                state.counts["active"] -= 1
                state.counts[status] += 1
        if citizen.status == "dormant":
            state.dormant[citizen.number] = ("food",)
        elif citizen.status == "dead":
            state.dead.append(citizen.number)
    assert not state.check(), f"no such position: {state.check()}"
    return state


def _change(event: Event, resource: str) -> int:
    """Return the change of the total of a resource by an event, in hundredths."""
    change = 0
    match event:
        case Worked():
            change = event.made * (event.resource == resource) - event.energy * (resource == "energy")
        case Contributed():
            change = -event.amount * (resource == "materials")
        case UpkeepPaid():
            change = -event.materials * (resource == "materials")
        case ProjectBegan():
            change = -event.land * (resource == "land")
        case ShockStruck() if event.what != "commons":
            change = -event.lost.get(resource, 0)
        case Consumed():
            change = -event.food * (resource == "food") - event.energy * (resource == "energy")
        case _:
            pass
    return change


def _cents(decimal: str) -> int:
    hundredths = Decimal(decimal) * 100
    assert hundredths == int(hundredths)
    return int(hundredths)


def _shown(hundredths: int) -> str:
    whole = Decimal(hundredths) / 100
    return f"{whole.normalize():f}"
