"""What the market's tests share: one readable line plays a market."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from agentsim.engine.decision import Decision
from agentsim.engine.game import Bot
from agentsim.engine.simulate import Simulation, simulate
from agentsim.games.market import GAME
from agentsim.games.market.turn import Acted, ActionChosen, QueryChosen

SMITH: dict[str, Any] = {
    "buyers": [[v] for v in range(325, 50, -25)],
    "sellers": [[c] for c in range(75, 350, 25)],
    "price_max": 400,
}


def does(action: str | None, memory: str = "", **given: Any) -> ActionChosen:
    """An action; None is a reply outside the format."""
    return ActionChosen(action=action, action_parameters=given, working_memory=memory)


def buys(price: int, quantity: int = 1, **given: Any) -> ActionChosen:
    return does("buy", good="wheat", price=price, quantity=quantity, **given)


def sells(price: int, quantity: int = 1, **given: Any) -> ActionChosen:
    return does("sell", good="wheat", price=price, quantity=quantity, **given)


def asks(query: str | None, **given: Any) -> QueryChosen:
    return QueryChosen(query=query, query_parameters=given)


SKIPS = does("skip")


def play(
    actions: Mapping[str, Sequence[Decision]],
    *,
    queries: Mapping[str, Sequence[Decision]] | None = None,
    answers: Mapping[str, Any] | None = None,
    order: Sequence[Sequence[str]] | None = None,
    bot: Bot | str = "idle",
    seed: int = 1,
    staff: Sequence[str] = (),
    **config: Any,
) -> Simulation:
    """A market in which these agents do this, one action a round, in the order in which they stand here.

    `queries` likewise, one a stage that is asked; a bot does the rest. Everybody has 100 capital and 10 wheat.
    """
    players = list(actions)
    rounds = max(1, *map(len, actions.values()))
    config = {"capital": 100, "stock": {"wheat": 10}, "rounds": rounds, "queries": queries is not None, **config}
    script: dict[str, Any] = {"action": {player: list(each) for player, each in actions.items()}, **(answers or {})}
    if queries is not None:
        script["query"] = {player: list(each) for player, each in queries.items()}
    drawn = {"order": list(order or [players] * config["rounds"])}
    return simulate(GAME, config, players, script, bot=bot, seed=seed, chance=drawn, staff=staff)


@cache
def smith() -> Simulation:
    """Three periods on Smith's schedules, played once for all tests of a process, which look at them alone."""
    return session("zi_c", periods=3)


def session(bot: Bot | str, *, seed: int = 1, **experiment: Any) -> Simulation:
    """An experiment on Smith's schedules, or others, in which restrictions keep all but `zi_u` from a loss."""
    table = {"kind": "smith_1962", **SMITH, **experiment}
    kept = [] if bot == "zi_u" else ["buy_within_value", "sell_within_value"]
    config = {"experiment": table, "queries": False, "briefing": False, "restrictions": kept}
    count = len(table["buyers"]) + len(table["sellers"])
    return simulate(GAME, config, [f"T{number}" for number in range(count)], bot=bot, seed=seed)


def results(played: Simulation, agent: str | None = None) -> list[str]:
    """What agents were told of their actions, in order."""
    return [event.result for event in played.events(Acted) if agent in {None, event.agent}]
