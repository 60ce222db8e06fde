"""Ids of players: given, numbered, or made from a prompt file's name; and the names that games call players by."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

from agentsim.errors import ScenarioError
from agentsim.scenario.files import stem
from agentsim.scenario.player_tables import PlayerTable, legal_id
from agentsim.scenario.validation_error import Key, dotted, shown

__all__ = ["called_by_files", "seat_ids"]

MOST_PLAYERS = 20_000
LONGEST = 32

# Letters that Unicode does not take apart into an ASCII letter and a mark.
_LETTERS = str.maketrans(
    {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ß": "ss", "æ": "ae", "Æ": "Ae", "œ": "oe"}
    | {"Œ": "Oe", "þ": "th", "Þ": "Th", "ð": "d", "Ð": "D", "ı": "i"}
)


def seat_ids(seats: Sequence[tuple[PlayerTable, Key]]) -> list[list[str]]:
    """The ids of each table, in the tables' order; `ScenarioError` where two would be the same.

    A population's numbers go on where an earlier one of the same id stopped. Ids made from files' names that
    clash get `_2`, `_3`, ...
    """
    if (total := sum(table.count or 1 for table, _ in seats)) > MOST_PLAYERS:
        raise ScenarioError(f"{total} are too many", key="players", valid=f"at most {MOST_PLAYERS}")
    taken: dict[str, Key] = {}
    numbered: dict[str, int] = {}
    ids: list[list[str]] = []
    for table, key in seats:
        given = table.name
        names = [] if given is None else _names(given, table.count, numbered)
        for name in names:
            _claim(name, (*key, "id" if table.id is not None else "player_id"), taken, key)
        ids.append(names)
    for names, (table, key) in zip(ids, seats, strict=True):
        if table.name is None:
            names.append(_made(stem(table.prompt_file or ""), taken, key))
    return ids


def _names(given: str, count: int | None, numbered: dict[str, int]) -> list[str]:
    if count is None:
        return [given]
    first = numbered.get(given, 0) + 1
    numbered[given] = first + count - 1
    return [f"{given}{first + number}" for number in range(count)]


def _claim(name: str, at: Key, taken: dict[str, Key], key: Key) -> None:
    try:
        legal_id(name)
    except ValueError as error:  # a population's number made it too long
        raise ScenarioError(f"{error}, found {shown(name)}", key=dotted(at)) from None
    other = taken.setdefault(name.casefold(), key)
    if other != key:
        raise ScenarioError(f"{shown(name)} is the id of {dotted(other)} already; case does not count", key=dotted(at))


def _made(name: str, taken: dict[str, Key], key: Key) -> str:
    """A free id that looks like the name."""
    ascii_only = unicodedata.normalize("NFKD", name.translate(_LETTERS)).encode("ascii", "ignore").decode()
    base = re.sub(r"[^A-Za-z0-9_-]+", "_", ascii_only).strip("_-")[:LONGEST].rstrip("_-") or "player"
    for number in range(1, MOST_PLAYERS + 2):
        suffix = "" if number == 1 else f"_{number}"
        made = base[: LONGEST - len(suffix)] + suffix
        if made.casefold() not in taken and _legal(made):
            taken[made.casefold()] = key
            return made
    raise AssertionError("more names than players")


def _legal(name: str) -> bool:
    try:
        legal_id(name)
    except ValueError:
        return False
    return True


def called_by_files(stems: Mapping[str, str]) -> dict[str, str]:
    """The name of each player by id, from the names of prompt files ("" for none).

    The file's name; the id where there is none, where several players share it, or where it is another's id.
    """
    called = {player: name or player for player, name in stems.items()}
    while twice := {name for name, count in Counter(called.values()).items() if count > 1}:
        called = {player: player if name in twice else name for player, name in called.items()}
    return called
