"""Situation: the board in words, as one player sees it: the money of all, the deeds by group, what may come next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    others = [number for number in range(len(seats)) if number != seat]
    starts = [_start(seats[each]) for each in others if not seats[each].bankrupt]
    chances = {group: any_visit(group, starts) for group in GROUPS}
    return (
        f"Turn {view.turn} of at most {max_turns}. You are {seats[seat].name}.{_rolled(view, seat, names)}",
        "Players:",
        *(f"- {_called(seats[each], names[each])}: {_player(seats[each], estate, each)}" for each in (seat, *others)),
        "Deeds by group:",
        *(
            f"- {group_name(group)} ({chance:.0%}): {'; '.join(_owners(estate, group, names))}"
            for group, chance in chances.items()
        ),
        _danger(estate, seat, _start(seats[seat])),
        f"The bank has {counted(view.houses, 'house')} and {counted(view.hotels, 'hotel')} left.",
    )


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
        elif owner == BANK:
            yield name
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
    return f"Highest rent you can meet with your next roll: {where}."
