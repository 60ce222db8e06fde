"""Panels of Monopoly: board and words by turns (`ring`), money, trades and landings, from what one audience heard.

Everything is worked out from events alone (`replay`); given what one player heard, other players' thoughts are missing
and nothing else. Markup does not belong here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from agentsim.engine.event import LogEntry, PlayerId
from agentsim.engine.panel import Board, Cell, Chart, Course, DataTable, Panel, Scene, Series
from agentsim.engine.wording import listed
from agentsim.games.monopoly.board import GROUPS, JAIL, SPACES, group_name, name_of
from agentsim.games.monopoly.debts import Bankrupted
from agentsim.games.monopoly.jail import Jailed, StayedInJail
from agentsim.games.monopoly.landing_odds import IN_JAIL, long_run
from agentsim.games.monopoly.match import Moved, Paid, Rolled
from agentsim.games.monopoly.replay import Deal, Replay, deals, snapshots
from agentsim.games.monopoly.ring import SIDE, board, tile
from agentsim.games.monopoly.trading import TradeDiscarded

_POINTS = 250
"""Turns of a chart: more than these would be no wider on the page."""
_MOST = 300
"""Trades of a table."""


def panels(log: Sequence[LogEntry], players: Sequence[PlayerId]) -> list[Panel]:
    """Everything there is to show; nothing before the first turn, and no panel without data."""
    turns = snapshots(log)
    if len(turns) < 2:
        return []
    names = turns[0].names
    return [board(turns, names), *_money(turns, names), *_trades(log, names), *_landings(log)]


def course(log: Sequence[LogEntry], players: Sequence[PlayerId]) -> Course:
    """Net worth of each player by turn."""
    turns = snapshots(log)
    chart = _worth(turns, turns[0].names) if len(turns) > 1 else None
    return Course(chart, margin=("net_worth",), why=_why(turns), refusals=("rejected a trade",))


def _why(turns: Sequence[Replay]) -> str:
    """What the richest in the end took and paid in rent, which group brought most, and who went bankrupt to it."""
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


# -- net worth and cash by turn, and who paid whom how much rent


def _money(turns: Sequence[Replay], names: Mapping[PlayerId, str]) -> Iterator[Panel]:
    """Charts of every player's money; of rents only where some were paid."""
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
    chosen = [turn for place, turn in enumerate(turns) if place % every == 0 or turn is turns[-1]]
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


# -- each proposal with its terms, its answer and its balance, and how often who agreed with whom


def _trades(log: Sequence[LogEntry], names: Mapping[PlayerId, str]) -> Iterator[Panel]:
    """Empty where no trade was proposed."""
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
    note = "Gained: what came in less what went out in all accepted trades, with deeds at list price."
    return DataTable("Trades by player", columns, tuple(rows), note)


def _each(found: Sequence[Deal], names: Mapping[PlayerId, str]) -> DataTable:
    # Accepted ones first in importance: where not all can be shown, the rejected ones go.
    kept = sorted(found, key=lambda deal: (deal.answer != "accepted", -deal.number))[:_MOST]
    rows: list[tuple[Cell, ...]] = []
    for deal in sorted(kept, key=lambda deal: deal.number):
        terms = (names[deal.proposer], str(deal.offer), names[deal.target], str(deal.request))
        balances = map(_signed, (deal.list_balance, deal.rent_proposer, deal.rent_target))
        rows.append((deal.turn, *terms, deal.answer, *balances))
    columns = ("turn", "proposer", "gives", "to", "for", "answer", "list price", "rent, proposer", "rent, other")
    note = (
        "List price: what the proposer would gain (+) or lose (−) with deeds at list price, mortgaged ones at half, "
        "and cards out of jail at $50. Rent: how the sum of all rents of either side would change, with whole groups."
    )
    if len(found) > len(kept):
        note += (
            f" {len(kept)} of {len(found)} are shown: the accepted ones and the latest others. All are in the timeline "
            "and in the table trades that export writes."
        )
    return DataTable("Trades and what they were worth", columns, tuple(rows), note)


def _signed(amount: int) -> str:
    return f"+{amount:,}" if amount > 0 else f"\u2212{-amount:,}" if amount else "0"


# -- where tokens rested after each roll, against where they rest in the long run


def rests(log: Sequence[LogEntry]) -> Counter[int]:
    """How often a token rested on each space (or `IN_JAIL`) at the end of a roll that was to move it."""
    found: Counter[int] = Counter()
    place: int | None = None  # of the roll that is being resolved
    for event in (told.event for told in log):
        match event:
            case Rolled() if event.purpose != "rent":
                found.update([] if place is None else [place])
                place = None
            case Moved():
                place = event.to
            case Jailed() | StayedInJail():
                place = IN_JAIL
            case _:
                pass
    found.update([] if place is None else [place])
    return found


def _landings(log: Sequence[LogEntry]) -> Iterator[Panel]:
    """Nothing before the first roll."""
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
        tile(position, marks=(f"{here:.1%}",), note=f"({long:.1%})", heat=here, says="in brackets the long run")
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
    scene = Scene(f"{total:,} rolls", tiles, notes=notes)
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
