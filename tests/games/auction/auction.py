"""What the auction's tests share: one readable line plays an auction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.event import Event, LoggedEvent
from agentsim.engine.game import Bot
from agentsim.engine.request import Ask, Request
from agentsim.engine.simulate import Simulation, simulate
from agentsim.games.auction import GAME
from agentsim.games.auction.bidding import Bid, BidCast, BidMade
from agentsim.games.auction.lots import ItemLost, ItemSold

FORMATS = ("ascending", "sealed_first_price", "sealed_second_price", "all_pay")
SEALED = FORMATS[1:]


def passes(request: Request[Any], rng: Stream) -> Decision:
    """Bids nothing."""
    return BidCast(bid=0)


def listed(text: str) -> list[dict[str, Any]]:
    """The items in one line, a junk one with a minus before its quality: `Compass 60, Kettle -12`."""
    found = [part.rsplit(maxsplit=1) for part in text.split(",")]
    return [
        {"Name": name.strip(), "Quality": abs(int(quality)), "IsRequired": int(quality) > 0} for name, quality in found
    ]


def play(
    items: str = "Compass 60",
    bids: Mapping[str, Sequence[int | None]] | None = None,
    order: Sequence[Sequence[str]] = (),
    *,
    names: Mapping[str, str] | None = None,
    bot: Bot | str = passes,
    seed: int | str = 1,
    chance: Mapping[str, Sequence[Any]] | None = None,
    **config: Any,
) -> Simulation:
    """An auction in which `bids` gives each team's bids, one an iteration through all rounds; `bot` makes the rest.

    A bid None is a reply that nobody could read. `order` gives the first processing orders: `["BA", "AB"]`.
    """
    bids = bids or {"A": [], "B": []}
    catalogue: Any = items if items == "random" else {"scenario": "tested", "items": listed(items)}
    answers = {"bid": {team: [BidCast(bid=amount) for amount in amounts] for team, amounts in bids.items()}}
    script = {"order": list(order), **(chance or {})}
    return simulate(
        GAME, {"items": catalogue, **config}, list(bids), answers, bot=bot, seed=seed, chance=script, names=names
    )


def verdicts(
    played: Simulation, round_: int = 1, iteration: int | None = None
) -> list[tuple[str, int, str, int | None]]:
    """(team, amount, fail reason, high bid before) of one round's bids, in the order of processing."""
    return [
        (bid.team, bid.amount, bid.fail_reason, bid.high_before)
        for bid in played.events(BidMade)
        if bid.round == round_ and iteration in {None, bid.iteration}
    ]


def sales(played: Simulation) -> list[tuple[str, str | None, int]]:
    """(item, team, price) of every round; no team and 0 where the item was lost."""
    ends = [told.event for told in played.log if isinstance(told.event, ItemSold | ItemLost)]
    return [
        (end.item.name, end.team, end.price) if isinstance(end, ItemSold) else (end.item.name, None, 0) for end in ends
    ]


def budgets(played: Simulation) -> dict[str, int]:
    """What each team has left at the end."""
    return {place.player: int(place.score["budget"]) for place in played.outcome.standings}


def ranks(played: Simulation) -> dict[str, int | None]:
    """Each team's rank, best first."""
    return {place.player: place.rank for place in played.outcome.standings}


def rows(played: Simulation, name: str) -> list[dict[str, Any]]:
    """A table of the finished game, its rows by column."""
    frame = GAME.tables(played.log, [])[name]
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.rows]


def told(played: Simulation, kind: type[Event]) -> list[LoggedEvent]:
    """The entries of one class of event, with their audiences."""
    return [entry for entry in played.log if isinstance(entry.event, kind)]


def requests(played: Simulation, team: str | None = None) -> list[Bid]:
    """Every bid that was asked for, or one team's."""
    return [request for _, request in bids_asked(played.asks(team))]


def bids_asked(asks: Iterable[Ask]) -> Iterator[tuple[Ask, Bid]]:
    """Each ask with its request, which is a bid: the auction asks for nothing else."""
    for ask in asks:
        assert isinstance(ask.request, Bid)
        yield ask, ask.request


def game_state(request: Request[Any]) -> Any:
    """The game_state as it stands in the prompt, read back."""
    (line,) = [line for line in request.prompt().state if line.startswith("game_state: ")]
    assert "\n" not in line
    return json.loads(line.removeprefix("game_state: "))


def waves_of(played: Simulation) -> list[str]:
    """The teams of every wave: `["AB", "AB"]`."""
    return ["".join(ask.request.player for ask in wave.asks) for wave, _ in played.waves]
