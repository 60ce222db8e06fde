"""docs/scenario.md, made from the JSON Schema of scenarios: every key with its values, default and meaning.

`python -m tests.scenario.page` writes it. An example is from the first file under `configs/` that sets the key.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from agentsim import games
from agentsim.scenario.toml_tables import json_schema

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "scenario.md"
_TABLES = {
    "Defaults": "[defaults]",
    "PlayerTable": "[[players]]",
    "StaffTable": "[staff.ROLE]",
    "Limits": "[limits]",
    "Interview": "[[interviews]]",
    "SurveyQuestion": "[[interviews.questions]]",
    "PeopleTable": "[people]",
    "ProviderSettings": "[providers.NAME]",
    "Price": '[prices."MODEL"]',
}
_HEAD = """# The scenario file: every key

A scenario is one TOML file; `agentsim validate FILE` checks it. A key without a default may be left out unless it is
marked as required. Examples are in brackets.
"""


def page() -> str:
    """Return the whole page."""
    schema = json_schema([games.find(name) for name in games.names()])
    lines = [_HEAD, "## The top of the file", "", *_table(schema, schema["$defs"], "")]
    shared = schema["$defs"]["Defaults"]["properties"].keys()
    for name, heading in _TABLES.items():
        part = schema["$defs"][name]
        lines += ["", f"## `{heading}`", "", _about(part, heading)]
        if name != "Defaults" and set(shared) <= set(part["properties"]):
            part = {
                **part,
                "properties": {key: about for key, about in part["properties"].items() if key not in shared},
            }
            lines[-1] += " It takes every key of `[defaults]`, which it overrides."
        if part["properties"]:
            lines += ["", *_table(part, schema["$defs"], heading)]
    for game in games.names():
        part = schema["$defs"][f"{game}.game_config"]
        heading = f"`[game_config]` of `{game}`"
        lines += ["", f"## {heading}", "", *_table(part, schema["$defs"], "[game_config]", game)]
    return "\n".join(lines) + "\n"


def _about(part: Mapping[str, Any], heading: str) -> str:
    """Return the description of a table, which need not begin with its name below its heading."""
    text: str = part["description"].removeprefix(f"`{heading}`: ")
    return text[0].upper() + text[1:]


def _table(part: Mapping[str, Any], defs: Mapping[str, Any], heading: str, game: str | None = None) -> Iterator[str]:
    yield "| key | value | default | meaning |"
    yield "|---|---|---|---|"
    for key, about in part["properties"].items():
        default = about.get("default")
        default = f"`{_toml(default)}`" if default is not None and not isinstance(default, dict) else ""
        default = "required" if key in part.get("required", ()) else default
        values = _values(about, defs)
        meaning = " ".join(about.get("description", "").split()).removesuffix(".")
        example = _example(heading, key, game)
        if isinstance(example, str | list | dict) and "`" not in values and len(_toml(example)) < _LONGEST:
            meaning += f" (`{_toml(example)}`)"
        cells = (f"`{key}`", values, default, meaning)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _values(about: Mapping[str, Any], defs: Mapping[str, Any]) -> str:
    """Return the values of a key, in words."""
    if "$ref" in about:
        return _values(defs[about["$ref"].removeprefix("#/$defs/")], defs)
    if "const" in about:
        return f"`{_toml(about['const'])}`"
    if "enum" in about:
        return ", ".join(f"`{_toml(each)}`" for each in about["enum"])
    if "anyOf" in about:
        return " or ".join(dict.fromkeys(_values(each, defs) for each in about["anyOf"]))
    match about.get("type"):
        case "integer" | "number" as kind:
            return f"{kind}{_range(about)}"
        case "boolean":
            return "boolean"
        case "array":
            return f"list of {_plural(_values(about['items'], defs))}" if about.get("items") else "list"
        case "object":
            return "table"
        case "string":
            return "text"
    return "any value"


def _plural(values: str) -> str:
    return re.sub(r"^(any value|boolean|integer|number|table)", r"\1s", values)


def _range(about: Mapping[str, Any]) -> str:
    low, high = (about.get(f"{end}imum") for end in ("min", "max"))
    above, below = (about.get(f"exclusive{end}imum") for end in ("Min", "Max"))
    high, below = (None if end is not None and end >= _HUGE else end for end in (high, below))
    if low is not None and high is not None:
        return f" {low:,}–{high:,}"
    signs = {"≥": low, ">": above, "≤": high, "<": below}
    bounds = ", ".join(f"{sign} {bound:,}" for sign, bound in signs.items() if bound is not None)
    return f" {bounds}" if bounds else ""


def _toml(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


_LONGEST = 48
_HUGE = 10**9
"""A bound from here on only keeps a number within a word of the machine."""


@cache
def _configs() -> list[Mapping[str, Any]]:
    return [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "configs").glob("*.toml"))]


def _example(heading: str, key: str, game: str | None) -> Any:
    """Return the value in the first shipped scenario that sets the key, or None."""
    if key in _TABLES_OF_THE_TOP and not heading:
        return None
    for config in _configs():
        if game in {None, config.get("game")}:
            for table in _tables(config, heading):
                if isinstance(table, dict) and key in table:
                    return table[key]
    return None


_TABLES_OF_THE_TOP = {"defaults", "game_config", "limits", "providers", "prices", "staff", "players"}


def _tables(config: Mapping[str, Any], heading: str) -> list[Any]:
    name, _, nested = heading.strip("[]").partition(".")
    if not name:
        return [config]
    found = config.get(name, {})
    return found if isinstance(found, list) else list(found.values()) if nested else [found]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
