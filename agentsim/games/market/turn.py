"""Turns: the stages of one turn, for one agent or for several that decide on the same state. Rounds are `game`'s."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentsim.engine.prompt import quoted
from agentsim.engine.table import Table
from agentsim.engine.wording import cut
from agentsim.games.market import tools
from agentsim.games.market.artifact import Refused
from agentsim.games.market.config import MarketConfig
from agentsim.games.market.experiment import Session
from agentsim.games.market.memory import Acted, Forfeited, Memory, MemoryAtOnce, Observed, Remembered, Tape
from agentsim.games.market.requests import Act, ActionChosen, AskQuery, QueryChosen
from agentsim.games.market.scope import Scope
from agentsim.games.market.state import NO_QUERY, SKIP, Agent, Market
from agentsim.games.market.view import Menu, Now, Observation, now_of

_TRADES = frozenset(("buy", "sell"))
EVERYBODY = "everybody"  # who hears what all hear, and nothing else; no agent is called so
MOST_PARAMETERS = 400  # characters of an action's or a query's parameters that are kept


@dataclass
class _Turn:
    """What one agent's turn has come to so far."""

    agent: Agent
    now: Now
    calls: int = 0


@dataclass(frozen=True)
class Turns:
    """How turns are taken in one market."""

    table: Table
    market: Market
    config: MarketConfig
    menu: Menu
    tails: Mapping[str, str]
    session: Session | None

    async def take(self, agents: Sequence[Agent]) -> None:
        """All of these query and decide on the same state; then their actions are carried out in this order."""
        turns = [_Turn(agent, self.glance(agent)) for agent in agents]
        if self.config.queries:
            await self._query(turns)
        requests = [
            Act(
                player=turn.agent.id,
                menu=self.menu,
                tail=self.tails[turn.agent.id],
                now=turn.now,
                observed=self._observed(turn.agent) if self.config.queries else (),
                scope=self._scope(turn.agent),
            )
            for turn in turns
        ]
        for request, turn, chosen in zip(requests, turns, await self.table.ask_all(requests), strict=True):
            # what others do at the same moment may have changed what it can do
            self._act(turn, chosen, self._scope(turn.agent) if self.config.simultaneous else request.scope)

    def glance(self, agent: Agent) -> Now:
        """What the agent may know now."""
        tape = self.table.memory(EVERYBODY, Tape) if self.config.shows_ticker else None
        period = (None, None) if self.session is None else (self.session.period, self.session.config.periods)
        return now_of(self.market, agent, self._memory(agent), tape, window=self.config.window, period=period)

    def _memory(self, agent: Agent) -> Memory:
        return self.table.memory(agent.id, MemoryAtOnce if self.config.simultaneous else Memory)

    def _observed(self, agent: Agent) -> tuple[Observation, ...]:
        """What this turn has brought."""
        return tuple(
            Observation(each.query, quoted(**each.parameters), quoted(**each.observation))
            for each in self._memory(agent).observed
        )

    def _scope(self, agent: Agent) -> Scope:
        artifacts, together = self.market.artifacts.values(), self.config.simultaneous
        orders = tuple(order for artifact in artifacts for order in artifact.orders(agent.id))
        return Scope(
            restrictions=agent.restrictions,
            orders=orders,
            most={} if together else {name: most for each in artifacts for name, most in each.most(agent.id).items()},
            settled=not (together and orders),
        )

    async def _query(self, turns: Sequence[_Turn]) -> None:
        """The second and third stage: tools as often as they may be used, and one query."""
        asking = list(turns) if self._offers(0) else []
        while asking:
            requests = [
                AskQuery(
                    player=turn.agent.id,
                    menu=self.menu,
                    tail=self.tails[turn.agent.id],
                    now=turn.now,
                    observed=self._observed(turn.agent),
                    calls_left=self.config.tool_calls - turn.calls,
                )
                for turn in asking
            ]
            answers = await self.table.ask_all(requests)
            asking = [turn for turn, chosen in zip(asking, answers, strict=True) if self._observe(turn, chosen)]

    def _observe(self, turn: _Turn, chosen: QueryChosen) -> bool:
        """Answer a query or use a tool; whether the agent may go on asking."""
        agent, name = turn.agent, chosen.query
        if name is None:
            self.table.tell(Forfeited(agent.id, "query"), to=(agent.id,), by=agent.id)
            return False
        if name == NO_QUERY:
            return False
        is_tool = name in self.market.tools
        try:
            if is_tool:
                found = tools.use(name, chosen.query_parameters, agent.notebook)
            else:
                found = self.market.queries[name].answer(agent.id, name, chosen.query_parameters)
        except Refused as error:
            found = {"refused": str(error)}
        found = _bounded(found, self.config.observation_chars)
        given = _bounded(chosen.query_parameters, MOST_PARAMETERS)
        self.table.tell(Observed(agent.id, name, given, dict(found)), to=(agent.id,), by=agent.id)
        turn.calls += is_tool
        return is_tool and self._offers(turn.calls)

    def _offers(self, calls: int) -> bool:
        """Whether there is anything to ask for after so many tool calls."""
        return bool(self.menu.queries or (self.menu.tools and calls < self.config.tool_calls))

    def _act(self, turn: _Turn, chosen: ActionChosen, scope: Scope) -> None:
        """The fourth stage."""
        agent, to = turn.agent, (turn.agent.id,)
        if chosen.action is None:
            agent.forfeits += 1
            self.table.tell(Forfeited(agent.id, "action"), to=to, by=agent.id)
            return
        given = _bounded(chosen.action_parameters, MOST_PARAMETERS)
        accepted, result = self._carried_out(agent, chosen, scope)
        agent.refused += not accepted
        self.table.tell(Acted(agent.id, chosen.action, given, accepted, result), to=to, by=agent.id)
        if text := cut(chosen.working_memory, self.config.working_memory_chars):
            self.table.tell(Remembered(agent.id, text), to=to, by=agent.id)

    def _carried_out(self, agent: Agent, chosen: ActionChosen, scope: Scope) -> tuple[bool, str]:
        """Whether the action was carried out, and what the agent is told of it."""
        name = chosen.action
        assert name is not None, "a forfeit is no action"
        if name == SKIP:
            return True, "You skipped."
        artifact, world = self.market.actions[name], self.market.world
        world.acting = agent.id
        try:
            given = artifact.actions[name].read(chosen.action_parameters)
            what, _, _ = scope.meant(name, given)
            if not agent.active and what in _TRADES:  # where all act on one state, its last unit may be gone by now
                raise Refused("you have no unit left to trade in this period")
            if forbidden := scope.why_not(agent, name, given):
                raise Refused(forbidden)
            return True, artifact.act(agent.id, name, given)
        except Refused as error:
            return False, f"Refused: {error}"
        finally:
            world.acting = None


def _bounded(found: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """The answer, without the last entries of its longest part where it is longer than agents are shown.

    Of one that has no entries to leave out, it is the beginning of its JSON.
    """
    out, dropped = dict(found), 0
    parts = {name: list(_entries(part)) for name, part in found.items() if isinstance(part, (list, dict))}
    while len(_json(out)) > limit and any(parts.values()):
        longest = max(parts, key=lambda name: len(parts[name]))
        parts[longest].pop()
        dropped += 1
        few = parts[longest]
        out |= {longest: dict(few) if isinstance(found[longest], dict) else few, "more_and_not_shown": dropped}
    return out if any(parts.values()) or not dropped else {"too_long": cut(_json(found), limit)}


def _entries(part: Any) -> Iterable[Any]:
    return part.items() if isinstance(part, dict) else part


_json = json.JSONEncoder(ensure_ascii=False).encode
