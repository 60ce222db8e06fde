"""Changes to a scenario's TOML document before it is validated.

Two files are merged, keys of another project's files are translated, and `--set KEY=VALUE` and other models are
applied.
"""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from agentsim import games
from agentsim.engine.letters import composed
from agentsim.engine.wording import counted
from agentsim.errors import ScenarioError
from agentsim.patterns import Pattern
from agentsim.scenario.player_plan import PROVIDER, numbered, prefixed
from agentsim.scenario.validation import dotted, one_line, screen, shown, validated

_PART = r"""(?:(?:[A-Za-z0-9_-]|[^\x00-\xa0\s])+|"(?:[^"\\\n]|\\[^\n])*"|'[^'\n]*')"""
_OVERRIDE = Pattern(rf"\s*({_PART}(?:\s*\.\s*{_PART})*)\s*=(.*)", re.DOTALL)
_LENGTH = 64 * 1024
_MOST = 20_000  # the most seats of a population that are counted here
_MOST_NAMED = 24
_TYPES = ("ai", "human")
_MEMORIES = {"none": "full", "summarization": "summary"}


def beside(document: Mapping[str, Any], further: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the tables of two files. Raises `ScenarioError` for a table that is in both."""
    if twice := sorted(document.keys() & further.keys()):
        raise ScenarioError("is in both files", key=dotted(twice[:1]), valid="either of them")
    return {**document, **further}


def adopted(document: Mapping[str, Any], game: str | None) -> dict[str, Any]:
    """Return the document with another project's keys translated. Keys of our own override translated ones.

    Unknown keys are kept, for validation to report. Raises `ScenarioError` for a `game` table if the game is not given
    or has no such table.
    """
    out = dict(document)
    if isinstance(out.get("players"), list):
        out["players"] = [_player(table, index) for index, table in enumerate(out["players"])]
    if not isinstance(out.get("game"), dict):
        return out
    if game is None:
        valid = ", ".join(games.names())
        raise ScenarioError("is a table, as in another project's files; give --game", key="game", valid=valid)
    project = games.find(game).config.project_table
    if project is None:
        raise ScenarioError(f"{game} knows no such table", key="game", valid="[game_config]")
    screen({"game": out["game"]})
    table = validated(project, out.pop("game"), at=("game",))
    translated = table.translated(_tables(out.get("players")))
    config = out.get("game_config", {})
    if isinstance(config, dict):
        config = {**translated["game_config"], **config}
    return {**translated, **out, "game": game, "game_config": config}


def _player(table: Any, index: int) -> Any:
    """Return a `[[players]]` table with `player_type` and `memory_strategy` translated to `model` and `memory`."""
    if not isinstance(table, dict):
        return table
    out = dict(table)
    kind, strategy = out.get("player_type"), out.get("memory_strategy")
    if kind == "human" and strategy not in {None, "none"}:
        raise ScenarioError(
            f"a human player keeps everything, found {shown(strategy)}",
            key=dotted(("players", index, "memory_strategy")),
            valid='"none"; or model = "human" and memory = "summary"',
        )
    if isinstance(kind, str) and kind in _TYPES:
        del out["player_type"]
        if kind == "human":
            out["model"] = "human"
    if isinstance(strategy, str) and strategy in _MEMORIES and "memory" not in out:
        out["memory"] = _MEMORIES[out.pop("memory_strategy")]
    kwargs = out.get("client_kwargs")
    if isinstance(kwargs, dict) and "max_output_tokens" in kwargs and "max_tokens" not in kwargs:
        out["client_kwargs"] = {("max_tokens" if key == "max_output_tokens" else key): kwargs[key] for key in kwargs}
    return out


def recast(document: dict[str, Any], model: str) -> None:
    """Give every player this model, in place. Staff keeps the model of `[defaults]`."""
    defaults = document.setdefault("defaults", {})
    if isinstance(defaults, dict) and "model" in defaults:
        for table in _tables(document.get("staff")):
            table.setdefault("model", defaults["model"])
    for table in (*_tables([defaults]), *_tables(document.get("players"))):
        table["model"] = model


def with_provider(document: dict[str, Any], provider: str) -> None:
    """Prefix every model name with the provider, in place. Raises `ScenarioError` for an invalid provider name."""
    if not PROVIDER.fullmatch(provider):
        raise ScenarioError("must be a provider's name, such as openrouter", key="--provider")
    rename(document, lambda model: prefixed(model, provider))


def rename(document: dict[str, Any], named: Callable[[str], str]) -> None:
    """Rename every model in place. Values of a wrong type are left for validation to report."""
    players, staff = _tables(document.get("players")), _tables(document.get("staff"))
    for table in (*_tables([document.get("defaults")]), *players, *staff):
        model = table.get("model")
        if isinstance(model, str):
            table["model"] = named(model)
        elif isinstance(model, list):
            table["model"] = [named(each) if isinstance(each, str) else each for each in model]


def _tables(value: Any) -> list[dict[str, Any]]:
    """Return the tables among the values of a list or a table."""
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [table for table in values if isinstance(table, dict)]


def overridden(document: dict[str, Any], overrides: Sequence[str] | Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the document with every override applied in order: `KEY=VALUE`, or values by key."""
    document = copy.deepcopy(document)
    if isinstance(overrides, Mapping):
        parsed = [(_parsed(f"{key}=")[0], copy.deepcopy(value)) for key, value in overrides.items()]
    else:
        parsed = [_parsed(override) for override in overrides]
    for path, value in parsed:
        put(document, path, value, flag="--set ")
    return document


@contextmanager
def errors_by_typed_id(document: Mapping[str, Any], overrides: Sequence[str] | Mapping[str, Any]) -> Iterator[None]:
    """Name players in errors as the overrides name them: by id if an override uses the id."""
    parsed = (_parsed(f"{each}=" if isinstance(overrides, Mapping) else each)[0][:3] for each in overrides)
    typed = {tuple(map(composed, parts)) for parts in parsed}
    try:
        yield
    except ScenarioError as error:
        for each in (error, *error.others):
            found = re.match(r"players\.(\d+)\.([^. ]+)", each.key)
            player = _id(document["players"][int(found[1])]) if found else ""
            if found and ("players", player, found[2]) in typed:
                each.key = f"{dotted(('players', player))}{each.key[found.start(2) - 1 :]}"
        raise


def put(document: dict[str, Any], path: Sequence[str], value: Any, *, flag: str = "") -> None:
    """Set one value in place. Missing tables on the way are created; list indices and players must exist.

    Raises `ScenarioError` for an index or player that does not exist.
    """
    here: Any = document
    for depth, part in enumerate(path):
        last = depth == len(path) - 1
        if isinstance(here, list):
            key: str | int = (_seat if path[:depth] == ["players"] else _index)(here, path, depth, flag)
        elif isinstance(here, dict):
            key = part
            if not last:
                here.setdefault(key, {})
        else:
            raise ScenarioError(f"{dotted(path[:depth])} is {shown(here)}, not a table", key=flag + dotted(path))
        if last:
            here[key] = value
        else:
            here = here[key]


def _index(here: list[Any], path: Sequence[str], depth: int, flag: str) -> int:
    part = path[depth]
    if part.isascii() and part.isdecimal() and len(part) < 10 and int(part) < len(here):
        return int(part)
    name = dotted(path[:depth])
    valid = f"{name}.0 to {name}.{len(here) - 1}" if here else ""
    raise ScenarioError(
        f"{name} has {counted(len(here), 'entry')}, counted from 0", key=flag + dotted(path), valid=valid
    )


def _seat(tables: list[Any], path: Sequence[str], depth: int, flag: str) -> int:
    """Return the index of the table of `players.N` or `players.ID`; N counts seats, with the members of populations.

    A member of a population is given a table of its own first. The id of a population stands for its whole table.
    """
    seats = _seats(tables)
    populations: dict[str, tuple[str, int, int | None]] = {}
    for name, index, member in seats:
        if member is not None:
            populations.setdefault(_id(tables[index]), (name, index, None))
    named = {**{seat[0]: seat for seat in seats if seat[0]}, **populations}
    part, key = composed(path[depth]), flag + dotted(path)
    number = int(part) if part.isascii() and part.isdecimal() and len(part) < 10 else len(seats)
    if number >= len(seats) and part not in named:
        ids = ", ".join(list(named)[:_MOST_NAMED]) + ", ..." * (len(named) > _MOST_NAMED)
        valid = f"0 to {len(seats) - 1}{f', or {ids}' if ids else ''}" if seats else ""
        raise ScenarioError("there is no such player", key=key, valid=valid)
    player, index, member = seats[number] if number < len(seats) else named[part]
    if member is None:
        return index
    table = tables[index]
    if path[depth + 1 : depth + 2] and path[depth + 1] in {"count", "id", "player_id"}:
        whole = dotted(("players", _id(table), path[depth + 1]))
        raise ScenarioError("is of a whole population", key=key, valid=whole)
    made: list[Any] = []
    for at, each in enumerate(tables):  # all populations of that id, since they are numbered together
        names = [name for name, its, nth in seats if its == at and nth is not None and _id(each) == _id(table)]
        alone = {key: value for key, value in each.items() if key not in {"count", "player_id"}} if names else {}
        made += [{**copy.deepcopy(alone), "id": name} for name in names] or [each]
    tables[:] = made
    return next(at for at, each in enumerate(made) if _id(each) == player)


def _seats(tables: Sequence[Any]) -> list[tuple[str, int, int | None]]:
    """Return (id, index of its table, index in its population or None) for each seat.

    The id is "" if it will be made from a file's name.
    """
    counts = [_count(table) for table in tables]
    ids = numbered(zip(map(_id, tables), counts, strict=True))
    return [
        (name, index, None if counts[index] is None else member)
        for index, names in enumerate(ids)
        for member, name in enumerate(names)
    ]


def _count(table: Any) -> int | None:
    """Return the size of a population, at most `_MOST`, or None for a single player."""
    count = table.get("count") if _id(table) else None
    return min(count, _MOST) if isinstance(count, int) and not isinstance(count, bool) else None


def _id(table: Any) -> str:
    name = table.get("id", table.get("player_id")) if isinstance(table, dict) else ""
    return composed(name) if isinstance(name, str) else ""


def _parsed(override: str) -> tuple[list[str], Any]:
    name = one_line(override.partition("=")[0], 80) or shown(override)
    found = _OVERRIDE.fullmatch(override)
    if found is None:
        raise ScenarioError(
            "must be KEY=VALUE, with a dotted key whose parts are quoted unless they are letters, digits, _ and -",
            key=f"--set {name}",
        )
    if len(override) > _LENGTH or found[1].count(".") > 64:
        raise ScenarioError("is too long", key=f"--set {name}")
    try:
        parts = [tomllib.loads(f"v = {p}")["v"] if p[0] in "\"'" else p for p in re.findall(_PART, found[1])]
    except ValueError:
        raise ScenarioError("not a TOML key", key=f"--set {name}") from None
    return parts, _value(found[2].strip(), f"--set {name}")


def _value(text: str, key: str) -> Any:
    """Parse the text as a TOML value.

    Text that is not TOML and does not begin like a table, list or string is returned as is.
    """
    try:
        document = tomllib.loads(f"v = {text}")
    except (ValueError, RecursionError):
        if text.startswith(("[", "{", '"', "'")):
            raise ScenarioError("the value is not TOML", key=key) from None
        return text
    return document["v"] if len(document) == 1 else text
