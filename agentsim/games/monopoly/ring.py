"""Ring: the board after every turn: owners, buildings, tokens, what each player has, what happened and was said.

The forty spaces lie in a ring of eleven by eleven, GO at the bottom right, and play goes clockwise, as it is printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from agentsim.engine.event import Event, PlayerId
from agentsim.engine.panel import Board, Piece, Scene, Tile
from agentsim.engine.wording import counted, cut
from agentsim.games.monopoly.board import HOTEL, HOTELS, HOUSES, SPACES, group_name, name_of
from agentsim.games.monopoly.building import Built, Lifted, Mortgaged, Sold
from agentsim.games.monopoly.buying import AuctionClosed
from agentsim.games.monopoly.debts import Bankrupted
from agentsim.games.monopoly.estate import BANK, Estate
from agentsim.games.monopoly.jail import Freed, Jailed, StayedInJail
from agentsim.games.monopoly.match import DeedMoved, Moved, Paid, Rolled
from agentsim.games.monopoly.replay import Replay
from agentsim.games.monopoly.talk import Spoke, Thought
from agentsim.games.monopoly.trading import TradeAccepted, TradeProposed, TradeRejected
from agentsim.games.monopoly.turn import CardDrawn

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
    """Column and row."""
    side, along = divmod(position, _LAST)
    return ((_LAST - along, _LAST), (0, _LAST - along), (along, 0), (_LAST, along))[side]


def tile(position: int, **more: object) -> Tile:
    """The space with its bar towards the middle; `more` are the fields of the tile that a game decides."""
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


_MOST = 12
_LONGEST = 110
_QUOTED = 160
_ROW_END = 30  # characters of a line's last row that stay empty, more or less
_PLAIN = (Rolled, Moved, Built, Sold, Mortgaged, Lifted, Jailed, Freed, StayedInJail, Bankrupted, TradeProposed)
_TOLD_BY_DEED = {"purchase", "auction", "trade", "bankruptcy"}


def happenings(events: Sequence[Event]) -> tuple[str, ...]:
    """One line each, in order; of very many the first, and how many more there are."""
    lines: list[str] = []
    rolled: Event | None = None  # whose line is the last
    offers: dict[int, int] = {}  # which line each trade stands in
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
    return (*lines[:_MOST], f"and {len(lines) - _MOST} more") if len(lines) > _MOST + 1 else tuple(lines)


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
    """The last words of a turn, a line for each speech, pitch or thought, in at most `room` characters altogether."""
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
"""Rows of so many characters in the middle of the ring; words have what players and the turn's events leave."""
_HEADINGS = ("player", "cash", "net worth", "deeds", "jail cards", "stands on")


def board(turns: Sequence[Replay], names: Mapping[PlayerId, str]) -> Board:
    """A scene for every turn, the set-up first."""
    scenes = tuple(_scene(turn, names) for turn in turns)
    note = (
        "As it stood after each turn. A strip names the owner, dashed where the deed is mortgaged; small blocks are "
        "houses, a large one is a hotel; a token behind bars is in jail."
    )
    return Board("The board by turns", SIDE, SIDE, scenes, note, _HEADINGS, ring=True)


def _scene(turn: Replay, names: Mapping[PlayerId, str]) -> Scene:
    estate, called = turn.estate, list(names.values())
    owners = [None if owner == BANK else called[owner] for owner in estate.owner]
    tiles = tuple(map(_tile, range(len(SPACES)), owners, estate.level, estate.mortgaged))
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


def _row(turn: Replay, number: int, player: PlayerId, name: str) -> tuple[str | int, ...]:
    if player in turn.bankrupt:
        return (name, 0, 0, 0, 0, "bankrupt")
    where = "in jail" if player in turn.jailed else SPACES[turn.positions[player]].name
    return (name, turn.cash[player], turn.worth(player), len(turn.estate.held(number)), turn.cards[player], where)
