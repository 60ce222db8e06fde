"""A scenario out of what a history and a journal keep of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentsim.errors import ScenarioError
from agentsim.games import names
from agentsim.scenario import Scenario, load
from tests.scenario.parlour import SEATS, written
from tests.scenario.test_load import FULL, ISLAND

FILES = SEATS + 'model = "script:a.jsonl"\n[staff.moderator]\nmodel = "local/m.gguf"\n'


def loaded(folder: Path, text: str) -> Scenario:
    path = written(folder, text)
    (path.parent / "a.jsonl").touch()
    (path.parent / "m.gguf").touch()
    return load(path, game="parlour", provider="openrouter" if text is ISLAND else None, allow_dirs=[folder])


@pytest.mark.parametrize("text", [FULL, SEATS, ISLAND, FILES], ids=["full", "seats", "island", "files"])
def test_the_round_trip_through_json_is_exact(text: str, tmp_path: Path) -> None:
    scenario = loaded(tmp_path, text)
    identity, run_settings = json.loads(
        json.dumps([scenario.game_settings(), scenario.run_settings()], allow_nan=False)
    )
    run_settings["concurrency"] = 16  # a history's volatile.run says more
    restored = Scenario.restore(identity, run_settings, seed=scenario.seed)
    assert restored == scenario
    assert json.dumps(restored.game_settings()) == json.dumps(scenario.game_settings())
    assert json.dumps(restored.run_settings()) == json.dumps(scenario.run_settings())


def test_the_settings_of_a_game_do_not_know_where_or_how_fast(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    other = FULL.replace("127.0.0.1:8000", "localhost:9").replace("evening", "morning").replace("seed = 7", "seed = 8")
    other = other.replace("concurrency = 4", "concurrency = 9").replace("max_calls = 500", "max_calls = 5")
    first, second = loaded(here, FULL), loaded(there, other)
    assert json.dumps(first.game_settings()) == json.dumps(second.game_settings())
    assert str(tmp_path) not in json.dumps(loaded(here, FILES).game_settings())


def test_the_order_of_tables_does_not_matter(tmp_path: Path) -> None:
    staff = '[staff.moderator]\nmodel = "human"\n', '[staff.summarizer]\nmodel = "human"\n'
    one = loaded(tmp_path, SEATS + staff[0] + staff[1])
    two = loaded(tmp_path, SEATS + staff[1] + staff[0])
    assert json.dumps(one.game_settings()) == json.dumps(two.game_settings())


def test_the_settings_of_a_game_are_resolved(tmp_path: Path) -> None:
    identity = loaded(tmp_path, SEATS).game_settings()
    assert list(identity) == ["game", "game_config", "players", "staff", "providers", "prices"]
    assert identity["game_config"] == {"rounds": "auto", "stake": 1.0, "moods": ["calm"], "guests": [], "quiet": False}
    assert list(identity["players"][0])[:4] == ["id", "model", "temperature", "max_tokens"]


def test_the_settings_of_the_run_hold_the_rest(tmp_path: Path) -> None:
    scenario = loaded(tmp_path, FULL)
    assert scenario.run_settings() == {
        "name": "evening",
        "limits": {
            "max_cost_usd": 2.0,
            "max_calls": 500,
            "max_wall_s": None,
            "wave_deadline_s": None,
            "concurrency": 4,
            "max_fallback_rate": 0.5,
            "on_provider_failure": "stop",
        },
        "base_urls": {"lab": "http://127.0.0.1:8000/v1"},
        "paths": {"config": str(scenario.path), "models": {}, "allow_dirs": [str(tmp_path)]},
    }


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("game_config", {"rounds": 0}, 'game_config.rounds: must be a whole number from 1 to 100 or "auto", found 0'),
        (
            "players",
            [{"id": "A"}],
            "players.0.model: is missing (valid: text or a list of at least 1, each text); "
            "players.0.client_kwargs: is missing (valid: a table); players.0.prompt: is missing (valid: text)",
        ),
        ("game", "chess", f"game: there is no game 'chess' (valid: {', '.join(names())})"),
        ("extra", 1, "extra: unknown key (valid: game, game_config, interviews, players, prices, providers, staff)"),
    ],
)
def test_what_are_no_settings_of_a_game_is_an_error(key: str, value: object, line: str, tmp_path: Path) -> None:
    scenario = loaded(tmp_path, SEATS)
    with pytest.raises(ScenarioError) as raised:
        Scenario.restore(scenario.game_settings() | {key: value}, scenario.run_settings())
    assert str(raised.value) == line
