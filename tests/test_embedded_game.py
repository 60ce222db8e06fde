"""A short game on the embedded model, end to end: TOML, command line, weights, journal, history, page, proof.

The test runs if the extra `local` is installed, which the development group includes; CI must not skip it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import agentsim
from agentsim.records.history import History

SCENARIO = """
game = "agent_island"
seed = 3
[defaults]
model = "local/smollm2-135m"
temperature = 0.6
max_tokens = 48
timeout_s = 150
client_kwargs = { repeat_penalty = 1.15 }
[game_config]
pitch_chars = 40
explanation_chars = 20
round_overrides = [{ round = 2, phases = ["votes"] }]
[[players]]
id = "Ada"
prompt = "You are ${player}. You are kind."
[[players]]
id = "Ben"
[[players]]
id = "Cem"
"""


def _agentsim(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "agentsim", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=900, check=False)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    if importlib.util.find_spec("xllamacpp") is None and not os.environ.get("CI"):
        pytest.skip("the extra `local` is not installed")
    home = tmp_path_factory.mktemp("embedded")
    (home / "game.toml").write_text(SCENARIO, encoding="utf-8")
    run = _agentsim("run", "--config", "game.toml", "--name", "real", "--json", "--include-prompts", cwd=home)
    assert run.returncode == 0, run.stderr
    return home, json.loads(run.stdout)


@pytest.mark.timeout(900)
@pytest.mark.slow
def test_the_history_is_of_a_real_model(played: tuple[Path, dict[str, Any]]) -> None:
    home, summary = played
    history = History.model_validate_json((home / "logs" / "real.json").read_bytes())
    assert (summary["status"], history.status) == ("completed", "completed")
    assert summary["winner"] in {"Ada", "Ben", "Cem"}
    assert len(history.decisions) == 3 + 3 + 1, "three pitches and votes, a jury of one"
    spoken = [decision for decision in history.decisions if decision.source == "model"]
    assert len(spoken) >= 6, "a real model that honours the schema falls back next to never"
    assert all(decision.model and "smollm2" in decision.model.casefold() for decision in spoken)
    for decision in spoken:
        assert decision.usage is not None
        assert decision.usage.prompt_tokens is not None
        assert decision.usage.prompt_tokens > 100
        assert decision.usage.cost_usd == 0.0
    votes = [decision for decision in spoken if decision.kind == "vote"]
    assert all(vote.parse is not None and vote.parse.stage == "json" for vote in votes)
    assert history.usage.cached_tokens > 0, "the rules are the same in every prompt, and were computed once"


@pytest.mark.timeout(900)
@pytest.mark.slow
def test_the_page_shows_what_was_said(played: tuple[Path, dict[str, Any]]) -> None:
    home, _ = played
    page = (home / "logs" / "real.html").read_text(encoding="utf-8")
    assert page.startswith(("<!DOCTYPE html>", "<!doctype html>"))
    assert "Ada&#39;s pitch" in page
    assert "You are Ada. You are kind." in page
    assert ">Votes<" in page


@pytest.mark.timeout(900)
@pytest.mark.slow
def test_the_game_replays_from_its_journal(played: tuple[Path, dict[str, Any]]) -> None:
    home, _ = played
    proof = _agentsim("replay", "real", cwd=home)
    assert proof.returncode == 0, proof.stderr
    assert "the history is identical" in proof.stdout


AUCTION = """
game = "auction"
seed = 3
[defaults]
model = "local/smollm2-135m"
temperature = 0.8
max_tokens = 40
timeout_s = 150
[game_config]
budget = 100
format = "sealed_second_price"
reasoning_chars = 20
prompts_dir = "teams"
[game_config.items]
scenario = "two"
items = [
    { Name = "The Visionary Compass", Quality = 61, IsRequired = true },
    { Name = "Dented Kettle", Quality = 12, IsRequired = false },
]
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_auction_of_real_bids_has_its_tables_in_pandas(tmp_path: Path) -> None:
    if importlib.util.find_spec("xllamacpp") is None and not os.environ.get("CI"):
        pytest.skip("the extra `local` is not installed")
    (tmp_path / "auction.toml").write_text(AUCTION, encoding="utf-8")
    (tmp_path / "teams").mkdir()
    (tmp_path / "teams" / "zespół 1.txt").write_text("You never pay more than 40.", encoding="utf-8")
    (tmp_path / "teams" / "others.txt").write_text("You want every component.", encoding="utf-8")
    run = _agentsim("run", "--config", "auction.toml", "--name", "real", "--json", "--no-html", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["usage"]["calls"] >= 4
    tables = agentsim.load("real", logs_dir=tmp_path / "logs").tables
    bids = tables["detailed_logs"]
    assert list(bids["TeamName"].unique()) in (["zespół 1", "others"], ["others", "zespół 1"])
    assert len(bids) == 4
    assert not bids["FailReason"].isin(["LowerThanHighBid"]).any()
    assert sorted(tables["results"]["FinalRank"]) in ([1, 2], [1, 1])
