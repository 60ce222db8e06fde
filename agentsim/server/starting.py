"""Starting: a run from a configuration file, with a form that is made from the JSON Schema of scenarios.

The form has what a person changes from run to run: the single values of a scenario and its game, limits, and the
players' models. All else stays as the file has it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from agentsim.errors import AgentsimError, ScenarioError
from agentsim.games import find
from agentsim.models.keys import environment
from agentsim.report.page import Served
from agentsim.scenario import json_schema
from agentsim.scenario.source_files import read_toml
from agentsim.server import hosting
from agentsim.server.site import STYLE, Site, page
from agentsim.server.steering import acting, page_of

_TABLES = ("defaults", "limits", "game_config")
_PLAIN = {"string": "text", "integer": "number", "number": "number"}
_MOST_PLAYERS = 30


@dataclass(frozen=True)
class Field:
    """One input of the form; `value` is the file's, "" where the file does not say."""

    key: str
    label: str
    about: str
    kind: str
    value: str = ""
    options: tuple[str, ...] = ()
    least: Any = None
    most: Any = None
    default: str = ""


def routes(site: Site) -> Iterable[web.RouteDef]:
    """The list of configurations, a form for each, and what starts it."""

    async def listed(request: web.Request) -> web.Response:
        site.guard.require(request)
        found = sorted(path.name for path in site.configs_dir.glob("*.toml") if path.is_file())
        return page("configs.html.j2", {"served": Served(STYLE, ()), "configs": found, "where": site.configs_dir})

    async def shown(request: web.Request) -> web.Response:
        site.guard.require(request)
        path = _config(site, request)
        fields = await acting(lambda: asyncio.to_thread(lambda: list(fields_of(path))))
        values = {"served": Served(STYLE, (), home="/new"), "config": path.name, "fields": fields}
        return page("new.html.j2", values)

    async def begun(request: web.Request) -> web.Response:
        site.guard.require(request)
        path, form = _config(site, request), await request.post()
        given = {name: value.strip() for name, value in form.items() if isinstance(value, str)}

        async def started() -> hosting.HostedRun:
            fields = await asyncio.to_thread(lambda: list(fields_of(path)))
            changes = [
                f"{field.key}={_typed(field, given[field.key])}"
                for field in fields
                if given.get(field.key, "") not in {"", field.value}
            ]
            name = given.get("run_name") or None
            return await hosting.start(site, path, env=environment(None), name=name, overrides=changes)

        raise web.HTTPSeeOther(page_of(await acting(started)))

    return [
        web.get("/new", listed),
        web.get("/new/{config}", shown),
        web.post("/new/{config}", begun),
    ]


def _config(site: Site, request: web.Request) -> Path:
    name = request.match_info["config"]
    path = site.configs_dir / name
    if Path(name).name != name or path.suffix != ".toml" or path.is_symlink() or not path.is_file():
        raise web.HTTPNotFound(text="There is no such configuration.")
    return path


def fields_of(path: Path) -> Iterator[Field]:
    """The form of a configuration; raises `ScenarioError` where it cannot be read."""
    document = read_toml(path)
    try:
        game = find(str(document.get("game", "")))
    except AgentsimError:
        raise ScenarioError(f"{path.name}: names no game that can be played here", key="game") from None
    schema = json_schema([game])
    definitions = schema["$defs"]
    own = {**schema["properties"], "game_config": definitions[f"{game.name}.game_config"]}
    for name in ("seed", *_TABLES):
        part = _resolved(own[name], definitions)
        if name not in _TABLES:
            yield from _field(name, part, document.get(name))
            continue
        table = document.get(name)
        there = table if isinstance(table, dict) else {}
        for key, each in part.get("properties", {}).items():
            if not isinstance(there.get(key), list | dict):
                yield from _field(f"{name}.{key}", _resolved(each, definitions), there.get(key))
    players = document.get("players")
    for place, player in enumerate(players[:_MOST_PLAYERS] if isinstance(players, list) else ()):
        if isinstance(player, dict):
            called = str(player.get("id") or player.get("prompt_file") or place + 1)
            model = player.get("model")
            yield Field(f"players.{place}.model", f"Model of {called}", "", "text", str(model) if model else "")


def _resolved(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that a reference leads to, with what stands beside the reference."""
    if "$ref" in part:
        return {**definitions[part["$ref"].rpartition("/")[2]], **{k: v for k, v in part.items() if k != "$ref"}}
    return part


def _field(key: str, part: Mapping[str, Any], value: Any) -> Iterator[Field]:
    """The input for a single value; none for lists, tables and what may be several kinds of thing."""
    about, label = str(part.get("description", "")), key.rpartition(".")[2].replace("_", " ")
    said = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    default = "" if part.get("default") is None else json.dumps(part["default"]).strip('"')
    common: dict[str, Any] = {"key": key, "label": label, "about": about, "value": said, "default": default}
    if "enum" in part:
        yield Field(**common, kind="choice", options=tuple(map(str, part["enum"])))
    elif part.get("type") == "boolean":
        yield Field(**common, kind="choice", options=("true", "false"))
    elif part.get("type") in _PLAIN:
        kind = "number" if part["type"] == "integer" else "decimal" if part["type"] == "number" else "text"
        yield Field(**common, kind=kind, least=part.get("minimum"), most=part.get("maximum"))


def _typed(field: Field, value: str) -> str:
    """The value as `--set` takes it: words are quoted, so that they are never taken for numbers."""
    return (
        json.dumps(value) if field.kind == "text" or (field.options and field.options != ("true", "false")) else value
    )
