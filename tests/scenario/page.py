"""docs/scenario.md, made from the JSON Schema of scenarios: every key with its values, default and an example.

`python -m tests.scenario.page` writes it. Examples are from the first file under `configs/` that sets the key.
"""

from __future__ import annotations

import json
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
    "StaffTable": "[staff.<role>]",
    "Limits": "[limits]",
    "Interview": "[[interviews]]",
    "Question": "[[interviews.questions]]",
    "PeopleTable": "[people]",
    "ProviderSettings": "[providers.<name>]",
    "Price": '[prices."<model>"]',
}
_HEAD = """# The scenario file: every key

A scenario is one TOML file. This page is made of its JSON Schema (`agentsim schema`, `configs/agentsim.schema.json`) by
`python -m tests.scenario.page`; `agentsim validate --config FILE` checks a file against it. A key without a default may
be left out unless it is marked as required. What the games' settings mean is said at length on the page of each game.
"""


def page() -> str:
    """Return the whole page."""
    schema = json_schema([games.find(name) for name in games.names()])
    lines = [_HEAD, "## The top of the file", "", *_table(schema, schema["$defs"], "")]
    shared = schema["$defs"]["Defaults"]["properties"].keys()
    for name, heading in _TABLES.items():
        part = schema["$defs"][name]
        lines += ["", f"## `{heading}`", "", part["description"]]
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
        heading = f'`[game_config]` of game = "{game}"'
        lines += ["", f"## {heading}", "", *_table(part, schema["$defs"], "[game_config]", game)]
    return "\n".join(lines) + "\n"


def _table(part: Mapping[str, Any], defs: Mapping[str, Any], heading: str, game: str | None = None) -> Iterator[str]:
    yield "| key | value | default | meaning | example |"
    yield "|---|---|---|---|---|"
    for key, about in part["properties"].items():
        default = about.get("default")
        default = f"`{_toml(default)}`" if default is not None and not isinstance(default, dict) else ""
        default = "required" if key in part.get("required", ()) else default
        example = f"`{_toml(found)}`" if (found := _example(heading, key, game)) is not None else ""
        cells = (f"`{key}`", _values(about, defs), default, about.get("description", ""), example)
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
            return f"{'whole number' if kind == 'integer' else 'number'}{_range(about)}"
        case "boolean":
            return "`true`, `false`"
        case "array":
            return f"list of: {_values(about['items'], defs)}" if about.get("items") else "list"
        case "object":
            return "table"
        case "string":
            return f"text, at most {about['maxLength']:,} characters" if "maxLength" in about else "text"
    return "any value"


def _range(about: Mapping[str, Any]) -> str:
    parts = [
        f" {word} {about[key]:,}"
        for key, word in (
            ("minimum", "from"),
            ("exclusiveMinimum", "above"),
            ("maximum", "to"),
            ("exclusiveMaximum", "below"),
        )
        if key in about
    ]
    return "".join(parts)


def _toml(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


_LONGEST = 48


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
