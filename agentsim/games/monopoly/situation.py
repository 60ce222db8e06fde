"""Situation: the board in words, as one player sees it: the money of all, the deeds by group, what may come next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from agentsim.engine.wording import counted
from agentsim.games.monopoly.board import GROUPS, HOTEL, SPACES, group_name, name_of
from agentsim.games.monopoly.estate import BANK, Estate
from agentsim.games.monopoly.landing_odds import IN_JAIL, any_visit, worst_rent
from agentsim.games.monopoly.state import SeatView, View


@lru_cache(maxsize=16)  # a view is shown to the seats of one moment
def state_lines(view: View, seat: int, max_turns: int) -> tuple[str, ...]:
    """The board from one seat."""
    estate, seats = view.estate(), view.seats
    names = {BANK: "unowned"} | {number: each.name for number, each in enumerate(seats)} | {seat: "you"}
    others = [*range(seat + 1, len(seats)), *range(seat)]
    starts = [_start(seats[each]) for each in others if not seats[each].bankrupt]
    named = {group: f"{group_name(group)} ({any_visit(group, starts):.0%})" for group in GROUPS}
    free = [group for group, lots in GROUPS.items() if all(estate.owner[lot] == BANK for lot in lots)]
    return (
        f"Turn {view.turn} of {max_turns}. You are {seats[seat].name}.{_rolled(view, seat, names)}",
        "Players in order of play (up to: with all sold and mortgaged):",
        *(f"- {_called(seats[each], names[each])}: {_player(seats[each], estate, each)}" for each in (seat, *others)),
        f"Deeds by group (chance that an opponent lands there next turn{_leaving(seats, others)}):",
        *(f"- {named[group]}: {'; '.join(_owners(estate, group, names))}" for group in GROUPS if group not in free),
        *([f"- unowned: {', '.join(named[group] for group in free)}"] if free else []),
        _danger(estate, seat, _start(seats[seat])),
        f"The bank has {counted(view.houses, 'house')} and {counted(view.hotels, 'hotel')} left.",
    )


def _leaving(seats: Sequence[SeatView], others: Iterable[int]) -> str:
    jailed = any(seats[each].jailed for each in others)
    return ", if those in jail leave it" if jailed else ""


def _start(player: SeatView) -> int:
    return IN_JAIL if player.jailed else player.position


def _rolled(view: View, seat: int, names: Mapping[int, str]) -> str:
    if view.roll is None:
        return ""
    whose = {BANK: "", seat: " (yours)"}.get(view.roller, f" ({names[view.roller]}'s)")
    return " The last roll{} was {} and {}.".format(whose, *view.roll)


def _called(player: SeatView, name: str) -> str:
    """What a player is called, and its id, by which trades name it, where that is another."""
    return name if name in {"you", player.id} else f"{name} (id {player.id})"


def _player(player: SeatView, estate: Estate, seat: int) -> str:
    if player.bankrupt:
        return "bankrupt"
    place = SPACES[player.position]
    at = f"in jail ({player.failed} of 3 rolls failed)" if player.jailed else f"on {place.position} {place.name}"
    cards = f", {counted(len(player.cards), 'card')} out of jail" if player.cards else ""
    worth, most = player.cash + estate.worth(seat), player.cash + estate.liquid(seat)
    return f"${player.cash}, worth ${worth}, up to ${most}, {at}{cards}"


def _owners(estate: Estate, group: str, names: Mapping[int, str]) -> Iterator[str]:
    """Who holds what of a group, and who lacks one deed of it alone."""
    held: dict[int, list[int]] = {}
    for lot in GROUPS[group]:
        held.setdefault(estate.owner[lot], []).append(lot)
    for owner, lots in sorted(held.items(), reverse=True):
        name = names[owner]
        if len(held) > 1:
            yield f"{name} {', '.join(_lot(estate, lot) for lot in lots)}"
        else:
            whose = "your" if name == "you" else f"{name}'s"
            yield f"{whose} whole group: {', '.join(_lot(estate, lot) for lot in lots)}"
    for owner, lots in held.items():
        if owner != BANK and len(lots) == len(GROUPS[group]) - 1:
            (missing,) = set(GROUPS[group]) - set(lots)
            yield f"{names[owner]} lack{'s' * (names[owner] != 'you')} {missing}"


def _lot(estate: Estate, position: int) -> str:
    level = estate.level[position]
    if level:
        return f"{position} (hotel)" if level == HOTEL else f"{position} ({counted(level, 'house')})"
    return f"{position} (mortgaged)" if estate.mortgaged[position] else f"{position}"


def _danger(estate: Estate, seat: int, start: int) -> str:
    rent, position = worst_rent(estate, seat, start)
    where = f"${rent}, on {position} {name_of(position)}" if rent else "none"
    return f"Highest rent that your next roll can cost: {where}."
