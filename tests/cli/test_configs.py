"""Every shipped config: it names its schema and fits it, it validates, and it plays if all its players are bots."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.letters import NAME_PATTERN
from agentsim.models.profiles import BUILT_IN
from tests.amounts import one_in
from tests.cli.command_line import ROOT, TRIO, agentsim, snapshot
from tests.cli.json_schema import complaints
from tests.fakes.faults import called
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Raw

CONFIGS = sorted((ROOT / "configs").glob("*.toml"))
SHIPPED_SCHEMA = ROOT / "configs" / "agentsim.schema.json"
FAKE_KEYS = {name: "sk-canary-not-a-key-0123456789" for profile in BUILT_IN.values() for name in profile.key_envs}
by_config = pytest.mark.parametrize("config", CONFIGS, ids=[path.stem for path in CONFIGS])


@pytest.fixture(scope="module")
def schema() -> Mapping[str, Any]:
    loaded: dict[str, Any] = json.loads(SHIPPED_SCHEMA.read_text(encoding="utf-8"))
    return loaded


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Copy the files that ship beside the package."""
    for folder in ("configs", "prompts", "items"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def words(config: Path) -> list[str]:
    """Return the arguments of a config, with those in its first comment: `run --config configs/x.toml --game ...`."""
    shown = re.search(rf"agentsim run (--config configs/{config.name}.*)", config.read_text(encoding="utf-8"))
    return shlex.split(shown[1]) if shown else ["--config", f"configs/{config.name}"]


def on_bots(config: Path) -> bool:
    document = tomllib.loads(config.read_text(encoding="utf-8"))
    default = document.get("defaults", {}).get("model", "")
    seats = [*document.get("players", [{}]), *document.get("staff", {}).values()]
    return all(seat.get("model", default).startswith("bot/") for seat in seats)


def test_the_shipped_schema_is_what_the_command_prints(tmp_path: Path) -> None:
    said = agentsim("schema", cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    assert SHIPPED_SCHEMA.read_text(encoding="utf-8") == said.out, "agentsim schema > configs/agentsim.schema.json"


@by_config
def test_a_config_names_its_schema_and_fits_it(config: Path, schema: Mapping[str, Any]) -> None:
    text = config.read_text(encoding="utf-8")
    assert text.startswith(f"#:schema ./{SHIPPED_SCHEMA.name}\n")
    assert complaints(tomllib.loads(text), schema) == []


def game_of(config: Path) -> str:
    """Return the game that a config names, or "" if the command line names it."""
    return str(tomllib.loads(config.read_text(encoding="utf-8")).get("game", ""))


SMALL = ("society_local", "society_survey")
"""Configs that replace the first of a game, since a rehearsal of a hundred agents for thirty days takes ten seconds."""


def firsts(configs: list[Path]) -> dict[str, Path]:
    """Return the first config of each game, or its small one if there is one."""
    small = [config for config in configs if config.stem in SMALL]
    return {game_of(config): config for config in reversed([*small, *configs])}


def first_or_slow(configs: list[Path]) -> pytest.MarkDecorator:
    """Parametrize by config; all but one of each game are slow, since they differ in numbers and models only."""
    first = firsts(configs).values()
    marked = [pytest.param(each, id=each.stem, marks=() if each in first else pytest.mark.slow) for each in configs]
    return pytest.mark.parametrize("config", marked)


OF_BOTS = [config for config in CONFIGS if on_bots(config)]
FIRST = firsts(OF_BOTS)


@first_or_slow(CONFIGS)
def test_a_config_validates(config: Path, house: Path) -> None:
    before = snapshot(house)
    said = agentsim("validate", *words(config), cwd=house, env=FAKE_KEYS)
    assert (said.code, said.err) == (0, "")
    first, *rest = said.out.splitlines()
    seats = list(takewhile(lambda row: not row.startswith("forecast"), rest))
    own = [row for row in seats if not row.lstrip().startswith(("@", "rules:"))]  # staff has no seat
    count = sum(int(found[1]) if (found := re.match(r"  \S+ to \S+ \((\d+)\):", row)) else 1 for row in own)
    assert re.fullmatch(rf"configs/{config.name}: \w+, {count} players, can be played", first)
    assert "canary" not in said.out
    assert snapshot(house) == before


@first_or_slow(OF_BOTS)
@one_in(3)
def test_a_config_of_bots_plays(config: Path, house: Path) -> None:
    """One config of each game also writes its page."""
    paged = FIRST[game_of(config)] == config
    said = agentsim("run", *words(config), "--display", "none", "--json", *[] if paged else ["--no-html"], cwd=house)
    line = json.loads(said.out)
    assert (said.code, said.err, line["status"]) == (0, "", "completed")
    assert (house / "logs" / f"{line['name']}.html").exists() == paged
    assert line["usage"]["calls"] == 0
    proof = agentsim("replay", line["name"], cwd=house)
    assert (proof.code, proof.err) == (0, "")


def test_the_seed_s_monopoly_sends_gemini_the_schema_and_a_thinking_budget(house: Path) -> None:
    """A short game with the providers and players of the config, on a fake server."""

    def reply(body: dict[str, Any]) -> Raw | str:
        return called()(body) if "tools" in body else varied_by_schema(body)

    config = house / "configs" / "monopoly_seed.toml"
    text = config.read_text(encoding="utf-8").replace("max_turns = 1000", "max_turns = 12")
    text = text.replace("spacing_ms = 200", "spacing_ms = 0").replace("max_cost_usd = 15.00", "max_calls = 1000")
    with FakeServer(reply).in_thread() as server:
        for provider in ("openai", "gemini"):
            table = f"[providers.{provider}]\n"
            assert table in text
            text = text.replace(table, f'{table}base_url = "{server.url()}"\n')
        config.write_text(text, encoding="utf-8")
        said = agentsim("run", *words(config), "--display", "none", "--json", "--no-html", cwd=house)
    line = json.loads(said.out)
    assert (said.code, said.err, line["status"], line["usage"]["fallbacks"]) == (0, "", "completed", 0)
    budgets = {"gemini-2.5-pro": 128, "gemini-2.5-flash": 0, "gemini-2.5-flash-lite": 0}
    asked = [sent.body for sent in server.received if sent.body["model"] in budgets]
    assert {body["model"] for body in asked} >= {"gemini-2.5-pro", "gemini-2.5-flash"}
    for body in asked:
        assert body["extra_body"] == {"google": {"thinking_config": {"thinking_budget": budgets[body["model"]]}}}
        assert body["response_format"]["type"] == "json_schema"
        assert body["response_format"]["json_schema"]["schema"]["properties"]
        assert body["max_tokens"] == 500
    assert all("extra_body" not in sent.body for sent in server.received if sent.body["model"] not in budgets)


def test_every_game_has_a_config_of_bots() -> None:
    from agentsim import games

    assert set(FIRST) >= set(games.names())


# The schema and its checker can fail: texts added to a good scenario, and the places of the errors.
FAULTS = {
    "unknown key": ("temprature = 1", [".players.2.temprature: unknown"]),
    "unknown table": ("[zebra]", [".zebra: unknown"]),
    "too warm": ("temperature = 3", [".players.2.temperature: any of 2"]),
    "a word for a number": ("max_tokens = 'many'", [".players.2.max_tokens: any of 2"]),
    "true for a number": ("max_tokens = true", [".players.2.max_tokens: any of 2"]),
    "an id with a point": ("[[players]]\nid = 'a.b'", [f".players.3.id: {NAME_PATTERN}"]),
    "an id with markup": ("[[players]]\nid = '<b>'", [f".players.3.id: {NAME_PATTERN}"]),
    "nobody's seat": ("[[players]]\nmodel = 'human'", [".players.3: any of 3"]),
    "unknown key of the game": ("[game_config]\nphasis = []", [".game_config.phasis: unknown"]),
    "unknown phase": (
        "[game_config]\nphases = ['dance']",
        [".game_config.phases.0: one of ['pitches', 'votes', 'elimination', 'sidebars', 'quips', 'summaries']"],
    ),
}


@pytest.mark.parametrize(("text", "found"), FAULTS.values(), ids=FAULTS)
def test_the_schema_finds_fault_where_validate_does(
    text: str, found: list[str], tmp_path: Path, schema: Mapping[str, Any]
) -> None:
    (tmp_path / "x.toml").write_text(TRIO + text, encoding="utf-8")
    assert complaints(tomllib.loads(TRIO), schema) == []
    assert complaints(tomllib.loads(TRIO + text), schema) == found
    said = agentsim("validate", "--config", "x.toml", cwd=tmp_path)
    key = found[0].partition(":")[0].removeprefix(".")
    assert said.code == 2
    assert said.line.startswith(f"x.toml: {key}: ")


def test_no_game_no_players_no_fit(schema: Mapping[str, Any]) -> None:
    assert complaints({"game": "agent_island"}, schema) == [".players: is missing"]
    assert complaints({"game": "chess", "players": []}, schema)[0].startswith(".game: one of ")
