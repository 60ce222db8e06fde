"""Every game with player names in several scripts: the names are unchanged everywhere, files have ASCII slugs."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from agentsim.records.tables import run_tables
from agentsim.report.markup import plain
from agentsim.results import run_in
from agentsim.runs.replay import prove
from agentsim.runs.run import RunResult
from agentsim.scenario.load import load
from tests.amounts import some_of
from tests.cli.command_line import agentsim
from tests.contract.harness import FEW, GAMES, tiny_path
from tests.fakes.replies import first_by_schema, varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import play_scenario

NAMES = ("Ana", "Ana Maria", "José", "李雷", "Zespół 1", "علی", "Ομάδα")
POPULATION = "Zespół"
every_game = some_of("game", GAMES, *FEW)


def renamed(game: str, folder: Path) -> Path:
    """Write the tiny scenario of a game with other player names, and return its path."""
    document = tomllib.loads(tiny_path(game).read_text(encoding="utf-8"))
    names: dict[str, str] = {}
    for table, name in zip(document["players"], NAMES, strict=False):
        new = POPULATION if "count" in table else name
        names[table["id"]] = table["id"] = new
    for table in document.get("game_config", {}).get("moderator", ()):
        table["agents"] = [NAMES[0]]
    path = folder / "game.toml"
    path.write_text(tomli_w.dumps(document), encoding="utf-8")
    return path


def played(game: str, folder: Path, reply: Callable[[dict[str, Any]], str] | None = None) -> tuple[RunResult, str]:
    """Play a game on bots, or on a model with these replies; return the result and the requests of its model."""
    path = renamed(game, folder)
    if reply is None:
        return play_scenario(load(path), folder, env={}, stem="game"), ""
    with FakeServer(reply).in_thread() as server:
        overrides = ('defaults.model="fake/echo"', f'providers.fake.base_url="{server.url()}"')
        result = play_scenario(load(path, overrides=overrides), folder, env={}, stem="game")
    return result, "\n".join(message["content"] for each in server.received for message in each.body["messages"])


def names_of(result: RunResult) -> list[str]:
    return [record.id for record in result.typed_history.seated]


def is_whole(result: RunResult, folder: Path) -> None:
    """Check that the game has ended, can be replayed, and has the names unchanged in its records."""
    assert (result.status, result.error) == ("completed", None)
    assert prove(result.files).complete
    names = names_of(result)
    assert names == [*NAMES[: len(names)]] or names == [f"{POPULATION}{number}" for number in range(1, len(names) + 1)]
    journal = [json.loads(line) for line in result.files.journal.read_text(encoding="utf-8").splitlines()]
    assert {line["player"] for line in journal if "player" in line and line["player"][0] != "@"} <= {*names}
    tables = run_tables(result.typed_history)
    assert {row[tables["standings"].columns.index("player")] for row in tables["standings"].rows} <= {*names}
    assert {each.player for each in result.typed_history.decisions if each.player[0] != "@"} <= {*names}
    run = run_in(result.files)
    for name in names:
        written = run.page(run.page_path(name), as_seen_by=name)
        assert re.fullmatch(r"game\.[A-Za-z0-9_-]+\.html", written.name)
        assert plain(name) in written.read_text(encoding="utf-8")
    assert len([*folder.glob("game.*.html")]) == len(names)


@every_game
def test_bots_of_any_names_play_a_game_to_its_end(game: str, tmp_path: Path) -> None:
    is_whole(played(game, tmp_path)[0], tmp_path)


@every_game
def test_models_of_any_names_play_a_game_and_are_asked_by_these_names(game: str, tmp_path: Path) -> None:
    # a society's act that is drawn by the schema alone may be invalid, such as a gift of 0, and is a fallback then
    result, prompts = played(game, tmp_path, first_by_schema if game == "society" else varied_by_schema)
    is_whole(result, tmp_path)
    reasons = {each.fallback_reason for each in result.typed_history.decisions}
    # a reply drawn by the schema alone may be no way out of a debt
    assert reasons <= ({None, "illegal"} if game == "monopoly" else {None}), "every reply is read"
    for name in names_of(result) if game != "society" else ():  # Society's prompts have numbers instead
        assert name in prompts
    assert "Jose" not in prompts
    assert "Zespol" not in prompts


def spelled(change: Callable[[str], str], value: Any, names: Mapping[str, Any]) -> Any:
    """Return a reply with another spelling of each chosen player name."""
    if isinstance(value, dict):
        return {key: spelled(change, part, names) for key, part in value.items()}
    if isinstance(value, list):
        return [spelled(change, part, names) for part in value]
    return change(value) if value in names else value


def otherwise(change: Callable[[str], str], body: dict[str, Any]) -> str:
    return json.dumps(spelled(change, json.loads(varied_by_schema(body)), dict.fromkeys(NAMES)), ensure_ascii=False)


@pytest.mark.parametrize(
    "change",
    [
        str.upper,
        str.lower,
        partial(unicodedata.normalize, "NFD"),
        lambda name: f'"{name}"',
        lambda name: f"“{name}”",
        lambda name: f"**{name}**",
        lambda name: f"Player {name}",
        lambda name: name.replace(" ", "_"),
        lambda name: unicodedata.normalize("NFD", name).encode("ascii", "ignore").decode().replace("Zespo ", "Zespoł ")
        or name,
    ],
    ids=["capitals", "small letters", "accents apart", "quotes", "curly quotes", "bold", "a title", "an underscore",
         "no accents"],
)  # fmt: skip
@some_of("game", ["agent_island", "werewolf"], "werewolf")
def test_a_name_in_a_vote_is_read_however_it_is_spelled(
    game: str, change: Callable[[str], str], tmp_path: Path
) -> None:
    result, _ = played(game, tmp_path, partial(otherwise, change))
    assert (result.status, result.error) == ("completed", None)
    usage = result.history["usage"]
    assert (usage["reasks"], usage["fallbacks"]) == (0, 0)
    votes = [each for each in result.history["decisions"] if each["kind"] == "vote"]
    assert votes
    assert {each["decision"]["vote"] for each in votes if each["decision"].get("vote")} <= {*NAMES, "nobody"}


@pytest.mark.parametrize(
    "said",
    [
        "Vote: Ana Maria",
        "**Ana Maria**",
        'Vote: Ana Maria, it seems to me.\n\n{"explanation": "So.", "vote": "Ana Maria"}',
    ],
    ids=["a label", "a name alone", "a label with more words, and an object"],
)
def test_a_vote_for_ana_maria_is_not_one_for_ana(said: str, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> str:
        schema = body["response_format"]["json_schema"]
        if schema["name"] == "vote" and "Ana Maria" in schema["schema"]["properties"]["vote"]["enum"]:
            return said
        return varied_by_schema(body)

    result, _ = played("agent_island", tmp_path, reply)
    assert result.history["usage"]["reasks"] == 0
    first = [each for each in result.history["decisions"] if each["kind"] == "vote"][:4]
    assert [each["decision"]["vote"] for each in first if each["player"] != "Ana Maria"] == ["Ana Maria"] * 3


def test_names_are_typed_on_the_command_line_as_they_are_written(tmp_path: Path) -> None:
    renamed("agent_island", tmp_path)
    words = ("run", "--config", "game.toml", "--name", "run", "--display", "none")
    changes = (
        'players."Ana Maria".model=bot/random',
        'players.José.prompt="Be brief."',
        'players."李雷".prompt="慢慢来"',
    )
    said = agentsim(*words, *(word for change in changes for word in ("--set", change)), cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    history = json.loads((tmp_path / "logs" / "run.json").read_text(encoding="utf-8"))
    prompts = {player["id"]: player["prompt"] for player in history["scenario"]["players"]}
    assert (prompts["José"], prompts["李雷"]) == ("Be brief.", "慢慢来")
    for typed, slug in (("José", "Jose"), (unicodedata.normalize("NFD", "José"), "Jose"), ("Ana Maria", "Ana_Maria")):
        page = agentsim("logs", "run", "--as-seen-by", typed, cwd=tmp_path)
        assert page.out == f"logs/run.{slug}.html\n"
    stranger = agentsim("logs", "run", "--as-seen-by", "Jose", cwd=tmp_path)
    assert stranger.code == 2
    assert stranger.err.count("\n") == 1
    assert "no player of this game is called 'Jose' (valid: Ana, Ana Maria, José, 李雷)" in stranger.err


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("players.Jose.temperature=1", 'players.Jose.temperature: there is no such player (valid: 0 to 3, or Ana, '),
        (
            'players."Ana Maria".temperature=9',
            'players."Ana Maria".temperature: must be a number from 0 to 2 or "default", found 9',
        ),
        ("players.Ana Maria.temperature=1", "must be KEY=VALUE, with a dotted key whose parts are quoted unless "),
    ],
    ids=["a stranger", "a bad value", "no quotes"],
)  # fmt: skip
def test_a_change_that_names_no_player_is_one_line(change: str, line: str, tmp_path: Path) -> None:
    renamed("agent_island", tmp_path)
    said = agentsim("validate", "--config", "game.toml", "--set", change, cwd=tmp_path)
    assert said.code == 2
    assert line in said.err
    assert said.err.count("\n") == 1
