"""Panels of Monopoly: the board, money, trades and landings by turn, from what one audience heard.

Everything follows from events (`replay`). With the events that one player heard, only the thoughts of the others are
missing. Panels are data without markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from agentsim.engine.event import Event, LoggedEvent, PlayerId
from agentsim.engine.panel import Board, Cell, Chart, DataTable, Overview, Panel, Piece, Scene, Series, Tile
from agentsim.engine.wording import counted, cut, listed
from agentsim.games.monopoly.auctions import AuctionClosed
from agentsim.games.monopoly.board import GROUPS, HOTEL, HOTELS, HOUSES, JAIL, SPACES, group_name, name_of
from agentsim.games.monopoly.building import Built, Mortgaged, Sold, Unmortgaged
from agentsim.games.monopoly.debts import Bankrupted
from agentsim.games.monopoly.jail import Freed, Jailed, StayedInJail
from agentsim.games.monopoly.landing_odds import IN_JAIL, long_run
from agentsim.games.monopoly.match import CardDrawn, DeedMoved, Moved, Paid, Rolled
from agentsim.games.monopoly.replay import Deal, Replay, deals, snapshots
from agentsim.games.monopoly.state import BANK, Estate
from agentsim.games.monopoly.talk import Spoke, Thought
from agentsim.games.monopoly.trade import TradeAccepted, TradeDiscarded, TradeProposed, TradeRejected

_POINTS = 250
"""Turns in a chart; more would not be visible."""
_MOST = 300
"""Trades in a table."""


def panels(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> list[Panel]:
    """Return all panels that have data; none before the first turn."""
    turns = snapshots(log)
    if len(turns) < 2:
        return []
    names = turns[0].names
    return [_board(turns, names), *_money(turns, names), *_trades(log, names), *_landings(log)]


def overview(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Overview:
    """Return the net worth of each player by turn, and why the game ended as it did."""
    turns = snapshots(log)
    chart = _worth(turns, turns[0].names) if len(turns) > 1 else None
    return Overview(chart, margin=("net_worth",), why=_why(turns), refusals=("rejected a trade",))


def _why(turns: Sequence[Replay]) -> str:
    """Explain the outcome: rents of the richest player at the end, its best group, and the players it bankrupted."""
    if len(turns) < 2:
        return ""
    names = turns[0].names
    rents = [event for turn in turns for event in turn.events if isinstance(event, Paid) and event.why == "rent"]
    first = max((player for player in names if player not in turns[-1].bankrupt), key=turns[-1].worth, default=None)
    taken, paid = (sum(event.amount for event in rents if getattr(event, end) == first) for end in ("payee", "payer"))
    groups = Counter[str]()
    for event in rents:
        if event.payee == first and event.position is not None:
            groups[SPACES[event.position].group] += event.amount
    if first is None or not groups:
        return ""
    (group, most), *_ = groups.most_common(1)
    said = f"{names[first]} took ${taken:,} in rent and paid ${paid:,}; {group_name(group)} brought most, ${most:,}."
    broke = [event for turn in turns for event in turn.events if isinstance(event, Bankrupted)]
    ruined = [names[event.player] for event in broke if event.creditor == first]
    return said + (f" {listed(ruined)} went bankrupt to it." if ruined else "")


# -- the board after every turn: owners, buildings, tokens, players, events and words

# The forty spaces form a ring of eleven by eleven, GO at the bottom right; play goes clockwise, as printed.

SIDE = 11
_LAST = SIDE - 1
_HUES = {"light_blue": "sky", "dark_blue": "blue", "railroad": None, "utility": None, "": None}
_SHORTENED = {"Avenue": "Ave.", "Railroad": "R.R.", "Place": "Pl.", "Gardens": "Gdns."}
_SHORT = (
    *("GO", "Med", "Chst", "Balt", "Tax", "Read", "Orie", "?", "Verm", "Conn"),
    *("Jail", "St.C", "Elec", "Stat", "Virg", "Penn", "St.J", "Chst", "Tenn", "N.Y."),
    *("Free", "Kent", "?", "Ind", "Ill", "B&O", "Atl", "Vent", "Wat", "Marv"),
    *("→J", "Pac", "N.C.", "Chst", "P.A.", "Shrt", "?", "Park", "Lux", "Brdw"),
)


def spot(position: int) -> tuple[int, int]:
    """Return the column and row of a position."""
    side, along = divmod(position, _LAST)
    return ((_LAST - along, _LAST), (0, _LAST - along), (along, 0), (_LAST, along))[side]


def _space_tile(position: int, **more: object) -> Tile:
    """Return the tile of a space, with its bar towards the middle; `more` are further fields of the tile."""
    space, (column, row) = SPACES[position], spot(position)
    edges: tuple[Literal["top", "right", "bottom", "left"], ...] = ("top", "right", "bottom", "left")
    label = " ".join(_SHORTENED.get(word, word) for word in space.name.split())
    note = f"${space.price}" if space.price else f"pay ${space.tax}" if space.tax else ""
    given: dict[str, object] = {
        "hue": _HUES.get(space.group, space.group),
        "note": note,
        "short": _SHORT[position],
        **more,
    }
    return Tile(column, row, label, edge=edges[position // _LAST], **given)  # type: ignore[arg-type] # fields by name


_MOST_LINES = 12
_LONGEST = 110
_QUOTED = 160
_ROW_END = 30  # characters of a line's last row that stay empty, more or less
_PLAIN = (Rolled, Moved, Built, Sold, Mortgaged, Unmortgaged, Jailed, Freed, StayedInJail, Bankrupted, TradeProposed)
_TOLD_BY_DEED = {"purchase", "auction", "trade", "bankruptcy"}


def happenings(events: Sequence[Event]) -> tuple[str, ...]:
    """Describe events in one line each, in order; of too many the first, and how many more there are."""
    lines: list[str] = []
    rolled: Event | None = None  # the roll whose line is the last
    offers: dict[int, int] = {}  # the index of each trade's line
    for event in events:
        match event:
            case Moved(by="dice") if rolled is not None:
                lines[-1] += f": {name_of(event.to)}"
            case TradeAccepted() | TradeRejected() if event.number in offers:
                lines[offers[event.number]] += ": accepted" if isinstance(event, TradeAccepted) else ": rejected"
            case _ if line := _line(event):
                if isinstance(event, TradeProposed):
                    offers[event.number] = len(lines)
                lines.append(cut(line, _LONGEST))
            case _:
                continue
        rolled = event if isinstance(event, Rolled) and event.purpose != "rent" else None
    return (
        (*lines[:_MOST_LINES], f"and {len(lines) - _MOST_LINES} more") if len(lines) > _MOST_LINES + 1 else tuple(lines)
    )


def _line(event: Event) -> str:
    match event:
        case CardDrawn() | AuctionClosed():
            return f"{event.heading}: {event.content}"
        case Paid() if event.why not in _TOLD_BY_DEED:
            where = f" for {name_of(event.position)}" if event.position is not None and event.why == "rent" else ""
            return f"{event.heading}{where or f' ({event.why})'}"
        case DeedMoved() if event.why == "purchase":
            return f"{event.taker_name} buys {name_of(event.position)}"
    return event.heading if isinstance(event, _PLAIN) else ""


def quotations(events: Sequence[Event], room: int) -> tuple[str, ...]:
    """Return the last speeches, pitches and thoughts of a turn, one per line, in at most `room` characters in all."""
    found: list[str] = []
    for event in events:
        match event:
            case Spoke():
                found.append(f"{event.name}: \u201c{cut(event.text, _QUOTED)}\u201d")
            case Thought():
                found.append(f"{event.name}, to itself: \u201c{cut(event.text, _QUOTED)}\u201d")
            case TradeProposed() if event.pitch:
                found.append(f"{event.proposer_name} to {event.target_name}: \u201c{cut(event.pitch, _QUOTED)}\u201d")
            case _:
                pass
    last: list[str] = []
    for line in reversed(found):
        room -= len(line) + _ROW_END
        if room < 0:
            break
        last.insert(0, line)
    return tuple(last)


_ROWS, _ROW = 17, 72
"""Rows, and characters per row, in the middle of the ring; words get what players and events leave."""
_HEADINGS = ("player", "cash", "net worth", "deeds", "jail cards", "stands on")


def _board(turns: Sequence[Replay], names: Mapping[PlayerId, str]) -> Board:
    """Return a scene for every turn, the setup first."""
    scenes = tuple(_scene(turn, names) for turn in turns)
    note = (
        "As it stood after each turn. A strip names the owner, dashed where the deed is mortgaged; small blocks are "
        "houses, a large one is a hotel; a token behind bars is in jail."
    )
    return Board("The board by turns", SIDE, SIDE, scenes, note, _HEADINGS, ring=True)


def _scene(turn: Replay, names: Mapping[PlayerId, str]) -> Scene:
    estate, called = turn.estate, list(names.values())
    owners = [None if owner == BANK else called[owner] for owner in estate.owner]
    tiles = tuple(map(_tile, range(len(SPACES)), owners, estate.houses, estate.mortgaged))
    pieces = tuple(
        Piece(name, *spot(turn.positions[player]), held=player in turn.jailed)
        for player, name in names.items()
        if player not in turn.bankrupt
    )
    figures = tuple(_row(turn, number, player, name) for number, (player, name) in enumerate(names.items()))
    caption = f"Turn {turn.turn}: {names[turn.active]}" if turn.active else "Before the first turn"
    done = happenings(turn.events)
    left = _ROWS - 1 - len(names) * 4 // 3 - sum(-(-len(line) // _ROW) for line in done)
    said = quotations(turn.events, left * _ROW)
    notes = (*done, f"The bank has {_stock(estate)} left.", *said)
    return Scene(caption, tiles, pieces, figures, notes, turn.turn)


def _stock(estate: Estate) -> str:
    counts = [count for count in estate.houses if count]
    houses, hotels = HOUSES - sum(count for count in counts if count < HOTEL), HOTELS - counts.count(HOTEL)
    return f"{counted(houses, 'house')} and {counted(hotels, 'hotel')}"


@lru_cache(maxsize=4096)  # enough for one page
def _tile(position: int, owner: str | None, houses: int, mortgaged: bool) -> Tile:
    says = group_name(SPACES[position].group)
    if houses:
        says += ", a hotel" if houses == HOTEL else f", {counted(houses, 'house')}"
    blocks = ("large",) if houses == HOTEL else ("small",) * houses
    print_ = {"note": "mortgaged"} if mortgaged else {}
    return _space_tile(position, owner=owner, blocks=blocks, struck=mortgaged, says=says, **print_)


def _row(turn: Replay, number: int, player: PlayerId, name: str) -> tuple[str | int, ...]:
    if player in turn.bankrupt:
        return (name, 0, 0, 0, 0, "bankrupt")
    where = "in jail" if player in turn.jailed else SPACES[turn.positions[player]].name
    return (name, turn.cash[player], turn.worth(player), len(turn.estate.held(number)), turn.cards[player], where)


# -- net worth and cash by turn, and who paid whom how much rent


def _money(turns: Sequence[Replay], names: Mapping[PlayerId, str]) -> Iterator[Panel]:
    """Yield charts of every player's money, and of rents if any were paid."""
    yield _worth(turns, names)
    yield _chart("Cash", turns, names, lambda turn, player: turn.cash[player])
    rents = [event for turn in turns for event in turn.events if isinstance(event, Paid) and event.why == "rent"]
    if rents:
        yield _flows(rents, names)
        yield _by_group(rents, names)


def _worth(turns: Sequence[Replay], names: Mapping[PlayerId, str]) -> Chart:
    note = "Cash, deeds at list price (mortgaged: half of it) and buildings at cost."
    return _chart("Net worth", turns, names, Replay.worth, note)


def _chart(
    title: str,
    turns: Sequence[Replay],
    names: Mapping[PlayerId, str],
    value: Callable[[Replay, PlayerId], int],
    note: str = "",
) -> Chart:
    every = -(-len(turns) // _POINTS)
    chosen = [turn for index, turn in enumerate(turns) if index % every == 0 or turn is turns[-1]]
    some = f"Every {every}th turn." if every > 3 else f"Every {('', 'second ', 'third ')[every - 1]}turn."
    series = tuple(
        Series(name, tuple(None if player in turn.bankrupt else float(value(turn, player)) for turn in chosen))
        for player, name in names.items()
    )
    note = " ".join(filter(None, (note, some if every > 1 else "")))
    rounds = tuple(turn.turn for turn in chosen)
    return Chart(title, "line", tuple(map(str, rounds)), series, "turn", "dollars", note, rounds)


def _flows(rents: Sequence[Paid], names: Mapping[PlayerId, str]) -> DataTable:
    paid = Counter[tuple[str | None, str | None]]()
    for event in rents:
        paid[event.payer, event.payee] += event.amount
    rows: list[tuple[Cell, ...]] = [
        (name, *(None if payer == payee else paid[payer, payee] for payee in names)) for payer, name in names.items()
    ]
    note = "Dollars that the player of the row paid to the player of the column."
    return DataTable("Rent from whom to whom", ("paid by", *names.values()), tuple(rows), note, heat=True)


def _by_group(rents: Sequence[Paid], names: Mapping[PlayerId, str]) -> Chart:
    taken = Counter[tuple[str | None, str]]()
    for event in rents:
        if event.position is not None:
            taken[event.payee, SPACES[event.position].group] += event.amount
    series = (Series(name, tuple(float(taken[player, group]) for group in GROUPS)) for player, name in names.items())
    return Chart("Rent taken by group", "stacked", tuple(map(group_name, GROUPS)), tuple(series), "", "dollars")


# -- trades: terms, answers, balances, and counts by player


def _trades(log: Sequence[LoggedEvent], names: Mapping[PlayerId, str]) -> Iterator[Panel]:
    """Yield tables of trades, if any were proposed."""
    if found := deals(log):
        discarded = [told.event.proposer for told in log if isinstance(told.event, TradeDiscarded)]
        yield _by_player(found, discarded, names)
        yield _each(found, names)


def _by_player(found: Sequence[Deal], discarded: Sequence[PlayerId], names: Mapping[PlayerId, str]) -> DataTable:
    rows: list[tuple[Cell, ...]] = []
    for player, name in names.items():
        made = [deal for deal in found if deal.proposer == player]
        got = [deal for deal in found if deal.target == player]
        gains = [deal.list_balance for deal in made if deal.answer == "accepted"]
        losses = [deal.list_balance for deal in got if deal.answer == "accepted"]
        gained = sum(gains) - sum(losses)
        rows.append((name, len(made), len(gains), discarded.count(player), len(got), len(losses), gained))
    columns = ("player", "proposed", "accepted", "discarded", "received", "agreed to", "gained by list price")
    note = "Gained: what came in less what went out in accepted trades; deeds at list price, mortgaged ones at half."
    return DataTable("Trades by player", columns, tuple(rows), note)


def _each(found: Sequence[Deal], names: Mapping[PlayerId, str]) -> DataTable:
    # If not all can be shown, accepted trades stay and rejected ones go.
    kept = sorted(found, key=lambda deal: (deal.answer != "accepted", -deal.number))[:_MOST]
    rows: list[tuple[Cell, ...]] = []
    for deal in sorted(kept, key=lambda deal: deal.number):
        terms = (names[deal.proposer], str(deal.offer), names[deal.target], str(deal.request))
        balances = map(_signed, (deal.list_balance, deal.rent_proposer, deal.rent_target))
        rows.append((deal.turn, *terms, deal.answer, *balances))
    columns = ("turn", "proposer", "gives", "to", "for", "answer", "list price", "rent, proposer", "rent, other")
    note = (
        "List price: what the proposer would gain (+) or lose (−) with deeds at list price, mortgaged ones at half, "
        "and Get Out of Jail Free cards at $50. Rent: how the sum of all rents of either side would change, "
        "monopolies included."
    )
    if len(found) > len(kept):
        note += (
            f" {len(kept)} of {len(found)} are shown: the accepted ones and the latest others. All are in the timeline "
            "and in the table trades that export writes."
        )
    return DataTable("Trades and what they were worth", columns, tuple(rows), note)


def _signed(amount: int) -> str:
    return f"+{amount:,}" if amount > 0 else f"\u2212{-amount:,}" if amount else "0"


# -- where tokens rested after each roll, compared with the long run


def rests(log: Sequence[LoggedEvent]) -> Counter[int]:
    """Count the rolls to move after which a token rested on each space, or in jail (`IN_JAIL`)."""
    found: Counter[int] = Counter()
    space: int | None = None  # of the roll that is being resolved
    for event in (told.event for told in log):
        match event:
            case Rolled() if event.purpose != "rent":
                found.update([] if space is None else [space])
                space = None
            case Moved():
                space = event.to
            case Jailed() | StayedInJail():
                space = IN_JAIL
            case _:
                pass
    found.update([] if space is None else [space])
    return found


def _landings(log: Sequence[LoggedEvent]) -> Iterator[Panel]:
    """Yield panels of landings; none before the first roll."""
    if found := rests(log):
        yield _map(found)
        yield _table(found)


def _map(found: Counter[int]) -> Board:
    total, odds = found.total(), long_run("leave")
    seen = [found[position] / total for position in range(len(SPACES))]
    expected = list(odds[: len(SPACES)])
    seen[JAIL] += found[IN_JAIL] / total
    expected[JAIL] += odds[IN_JAIL]
    tiles = tuple(
        _space_tile(position, marks=(f"{here:.1%}",), note=f"({long:.1%})", heat=here, says="in brackets the long run")
        for position, (here, long) in enumerate(zip(seen, expected, strict=True))
    )
    by_excess = sorted(range(len(SPACES)), key=lambda position: seen[position] - expected[position])

    def far(positions: Sequence[int]) -> str:
        points = ((name_of(position), 100 * (seen[position] - expected[position])) for position in positions)
        return ", ".join(f"{name} ({excess:+.1f} points)".replace("-", "\u2212") for name, excess in points)

    notes = (
        "Framed, and as shade: how often a token rested there after a roll.",
        "In brackets: how often it does in the long run, by an exact Markov chain of players who leave jail at once.",
        "The corner of the jail counts those in it and those just visiting.",
        f"Furthest above the long run: {far(by_excess[:-4:-1])}.",
        f"Furthest below it: {far(by_excess[:3])}.",
    )
    scene = Scene(f"{counted(total, 'roll', form=',')}", tiles, notes=notes)
    return Board("Landings against the long run", SIDE, SIDE, (scene,), ring=True)


def _table(found: Counter[int]) -> DataTable:
    total, leave, stay = found.total(), long_run("leave"), long_run("stay")
    rows: list[tuple[Cell, ...]] = []
    for cell in range(IN_JAIL + 1):
        name = "In jail" if cell == IN_JAIL else "Just Visiting" if cell == JAIL else SPACES[cell].name
        shares = (100 * found[cell] / total, 100 * leave[cell], 100 * stay[cell])
        rows.append((name, found[cell], *(round(share, 2) for share in shares)))
    columns = ("space", "landings", "% here", "% in the long run, leaving jail", "% staying in jail")
    note = "After each roll and all that it brought about; no token rests on Go To Jail."
    return DataTable("Landings by space", columns, tuple(rows), note)
