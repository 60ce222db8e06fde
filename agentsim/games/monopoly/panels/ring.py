"""Ring: the board after every turn: owners, buildings, mortgages, tokens, and what each player has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from agentsim.engine.event import PlayerId
from agentsim.engine.panel import Board, Piece, Scene, Tile
from agentsim.engine.wording import counted
from agentsim.games.monopoly.board import HOTEL, HOTELS, HOUSES, SPACES, group_name
from agentsim.games.monopoly.estate import BANK, Estate
from agentsim.games.monopoly.panels.happenings import happenings, quotations
from agentsim.games.monopoly.panels.spots import SIDE, spot, tile
from agentsim.games.monopoly.replay import Snapshot

_ROWS, _ROW = 17, 72
"""Rows of so many characters in the middle of the ring; words have what players and the turn's events leave."""
_HEADINGS = ("player", "cash", "net worth", "deeds", "jail cards", "stands on")


def board(turns: Sequence[Snapshot], names: Mapping[PlayerId, str]) -> Board:
    """A scene for every turn, the set-up first."""
    scenes = tuple(_scene(turn, names) for turn in turns)
    note = (
        "As it stood after each turn. A strip names the owner, dashed where the deed is mortgaged; small blocks are "
        "houses, a large one is a hotel; a token behind bars is in jail."
    )
    return Board("The board by turns", SIDE, SIDE, scenes, note, _HEADINGS, ring=True)


def _scene(turn: Snapshot, names: Mapping[PlayerId, str]) -> Scene:
    estate, called = turn.estate, list(names.values())
    tiles = tuple(
        _tile(
            at, called[estate.owner[at]] if estate.owner[at] != BANK else None, estate.level[at], estate.mortgaged[at]
        )
        for at in range(len(SPACES))
    )
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
    return Scene(caption, tiles, pieces, figures, notes)


def _stock(estate: Estate) -> str:
    levels = [level for level in estate.level if level]
    houses, hotels = HOUSES - sum(level for level in levels if level < HOTEL), HOTELS - levels.count(HOTEL)
    return f"{counted(houses, 'house')} and {counted(hotels, 'hotel')}"


@lru_cache(maxsize=4096)  # of one page
def _tile(position: int, owner: str | None, level: int, mortgaged: bool) -> Tile:
    says = group_name(SPACES[position].group)
    if level:
        says += ", a hotel" if level == HOTEL else f", {counted(level, 'house')}"
    blocks = ("large",) if level == HOTEL else ("small",) * level
    print_ = {"note": "mortgaged"} if mortgaged else {}
    return tile(position, owner=owner, blocks=blocks, struck=mortgaged, says=says, **print_)


def _row(turn: Snapshot, number: int, player: PlayerId, name: str) -> tuple[str | int, ...]:
    if player in turn.bankrupt:
        return (name, 0, 0, 0, 0, "bankrupt")
    where = "in jail" if player in turn.jailed else SPACES[turn.positions[player]].name
    return (name, turn.cash[player], turn.worth[player], len(turn.estate.held(number)), turn.cards[player], where)
