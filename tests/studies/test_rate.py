"""`agentsim pool` and `agentsim rate` as they are used: a pool is frozen, a bot is rated, a kill costs nothing."""

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import agentsim
from agentsim.records.run_files import MANIFEST
from agentsim.studies.reference_pool import Pool
from tests.cli.command_line import TRIO, trio
from tests.cli.command_line import agentsim as command
from tests.cli.processes import CommandProcess
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.runs.island import decided

pytestmark = pytest.mark.usefixtures("without_workers")

QUIET = ("--display", "none")
FOUR = f'{TRIO}\n[[players]]\nid = "D"\nmodel = "bot/random"\n'


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a batch of two bots in four seats, and the pool that is made of it."""
    folder = tmp_path_factory.mktemp("lab")
    words = ("--games", "16", "--models", "bot/random,bot/grudge", "--out", "games", *QUIET)
    assert command("batch", "--config", str(trio(folder, FOUR)), *words, cwd=folder).code == 0
    said = command("pool", "games", "--out", "pool.json", cwd=folder)
    assert (said.code, said.out) == (0, "pool.json: 2 models in 16 games of agent_island, 4 seats\n")
    return folder


def rated(lab: Path, out: Path, *words: str) -> dict[str, Any]:
    options = ("--model", "bot/loyal", "--pool", "pool.json", "--games", "12", "--width", "0.1", "--out", str(out))
    said = command("rate", *options, "--json", *QUIET, *words, cwd=lab)
    assert (said.code, said.out.count("\n")) == (0, 1), said.err
    found: dict[str, Any] = json.loads(said.out)
    return found | {"directory": "", "pool": ""}


@pytest.fixture(scope="module")
def whole(lab: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A rating from Python that nothing disturbed: its folder, and what it says."""
    out = tmp_path_factory.mktemp("whole") / "out"
    found = asyncio.run(agentsim.rate("bot/loyal", lab / "pool.json", games=12, width=0.1, out=out))
    return out, found.to_json() | {"directory": "", "pool": ""}


def test_a_pool_holds_results_members_and_digests_and_is_never_changed(lab: Path) -> None:
    pool = Pool.model_validate_json((lab / "pool.json").read_bytes())
    assert (pool.format, pool.game, pool.labels) == ("agentsim-pool/2", "agent_island", ["bot/random", "bot/grudge"])
    for game in pool.games:
        raw = (lab / "games" / f"{game.name}.json").read_bytes()
        history = json.loads(raw)
        assert game.sha256 == hashlib.sha256(raw).hexdigest()
        assert [pool.labels[at] for at in game.members] == [each["model"] for each in history["players"]]
        best = history["players"][game.ranks.index(min(game.ranks))]["id"]
        assert history["outcome"]["standings"][0]["player"] == best
    before = (lab / "pool.json").read_bytes()
    said = command("pool", "games", "--out", "pool.json", cwd=lab)
    assert (said.code, said.line) == (2, "pool.json: already exists, and a pool is never changed; give another --out")
    assert (lab / "pool.json").read_bytes() == before


def test_the_rated_model_has_every_seat_equally_often_in_blocks_of_one_seed(whole: tuple[Path, dict[str, Any]]) -> None:
    out, found = whole
    plan = json.loads((out / MANIFEST).read_text("utf-8"))["games"]
    assert (found["games"], found["wide"], found["seats"]) == (12, True, [6, 6, 6, 6])
    assert Counter(game["seed"] for game in plan).most_common()[-1][1] == 4
    for game in plan:
        players = json.loads((out / f"{game['name']}.json").read_text("utf-8"))["players"]
        models = ["bot/random", "bot/grudge", "bot/loyal"]
        assert [each["model"] for each in players] == [models[at] for at in game["models"]]
        assert game["models"].count(2) == 2
    assert found["strength"]["low"] < found["strength"]["value"] < found["strength"]["high"]
    assert sum(found["rank_probabilities"]) == pytest.approx(1)
    assert "12 games of 4, 24 of their seats" in found["sentence"]


def test_killed_at_any_moment_the_same_command_goes_on_to_what_python_says(
    lab: Path, tmp_path: Path, whole: tuple[Path, dict[str, Any]]
) -> None:
    words = ("rate", "--model", "bot/loyal", "--pool", "pool.json", "--games", "12", "--width", "0.1")
    out = tmp_path / "killed"
    process = CommandProcess(*words, "--out", str(out), *QUIET, cwd=lab)
    until = time.monotonic() + 60
    while not (out / "game_0005.json").exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (out / "game_0005.json").exists()
    kept = {path.name: path.stat().st_mtime_ns for path in out.glob("game_000[1-4].json")}
    assert rated(lab, out) == whole[1]
    assert kept == {name: (out / name).stat().st_mtime_ns for name in kept}, "they are not played again"
    assert (out / MANIFEST).read_bytes() == (whole[0] / MANIFEST).read_bytes()


def test_it_stops_where_the_interval_is_narrow_enough_and_goes_on_where_more_is_asked(
    lab: Path, tmp_path: Path
) -> None:
    first = rated(lab, tmp_path / "out", "--width", "9")
    assert (first["games"], first["wide"]) == (4, False), "one block at least"
    more = rated(lab, tmp_path / "out", "--games", "8")
    assert (more["games"], more["wide"]) == (8, True)
    assert rated(lab, tmp_path / "out", "--games", "8") == more


def test_what_is_said_to_people(lab: Path, tmp_path: Path) -> None:
    words = ("--model", "bot/loyal", "--pool", "pool.json", "--games", "4", "--out", str(tmp_path / "out"), *QUIET)
    said = command("rate", *words, cwd=lab)
    assert (said.code, said.err) == (0, "")
    assert "4 games, all that may be played; the interval is wider than asked" in said.out
    assert "Suggested sentence: bot/loyal has a log strength of" in said.out
    assert [line.split("  ")[0] for line in said.out.splitlines() if line.startswith("bot/loyal")] == [
        "bot/loyal (rated)"
    ]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--model", "bot/loyl"), '--model: agent_island has no "bot/loyl" (did you mean bot/loyal?) (valid: bot/'),
        (("--model", "human"), "--model: human cannot play many games"),
        (("--games", "3"), "--games: a block has 4, one for every seat; ask for at least as many"),
        (("--entries", "4"), "--entries: 4 of 4 seats; 2 to 3 can be its own"),
        (("--pool", "none.json"), "none.json: No such file or directory"),
        (("--pool", "games/game_0001.json"), "games/game_0001.json: is not a reference pool: format: must be"),
        (("--out", "games"), "games: holds another batch (seed: "),
    ],
)
def test_what_cannot_be_rated_is_one_line(words: tuple[str, str], line: str, lab: Path) -> None:
    given = {"--model": "bot/loyal", "--pool": "pool.json", "--out": "never"} | {words[0]: words[1]}
    said = command("rate", *(word for pair in given.items() for word in pair), *QUIET, cwd=lab)
    assert (said.code, said.line.startswith(line)) == (2, True), said.err
    assert not (lab / "never").exists()


def test_games_of_other_settings_make_no_pool(lab: Path, tmp_path: Path) -> None:
    for number, more in enumerate(("", "\n[game_config]\npitch_chars = 99\n")):
        config = trio(tmp_path, f"{FOUR}{more}")
        done = command("run", "--config", str(config), "--name", f"g{number}", "--no-html", *QUIET, cwd=tmp_path)
        assert done.code == 0
    said = command("pool", "logs", "--out", "pool.json", cwd=tmp_path)
    assert (said.code, said.line) == (
        2,
        "game_config.pitch_chars is not the same in g0 and g1: a pool is of one scenario",
    )


def test_a_pool_of_other_rules_is_refused(lab: Path, tmp_path: Path) -> None:
    pool = json.loads((lab / "pool.json").read_text("utf-8"))
    (tmp_path / "old.json").write_text(json.dumps(pool | {"rules_version": 0}), "utf-8")
    said = command("rate", "--model", "bot/loyal", "--pool", "old.json", cwd=tmp_path)
    assert said.code == 2
    assert "rules version 0 of agent_island there, 1 here" in said.line


def test_a_pool_that_was_changed_is_no_reference(lab: Path, tmp_path: Path) -> None:
    pool = json.loads((lab / "pool.json").read_text("utf-8"))
    pool["games"][0]["ranks"].reverse()
    (tmp_path / "changed.json").write_text(json.dumps(pool), "utf-8")
    said = command("rate", "--model", "bot/loyal", "--pool", "changed.json", cwd=tmp_path)
    assert (said.code, "was changed since it was frozen" in said.line) == (2, True)


def test_a_model_with_several_settings_is_several_members(tmp_path: Path) -> None:
    """Settings tell two members of one model apart; what all share, the rated one gets."""
    config = trio(tmp_path, FOUR.replace('id = "D"', 'id = "D"\ntemperature = 0.5'))
    assert command("run", "--config", str(config), "--name", "g", "--no-html", *QUIET, cwd=tmp_path).code == 0
    assert command("pool", "logs", "--out", "pool.json", cwd=tmp_path).code == 0
    pool = Pool.model_validate_json((tmp_path / "pool.json").read_bytes())
    assert pool.labels == ["bot/random temperature=null", "bot/grudge", "bot/loyal", "bot/random temperature=0.5"]
    assert "temperature" not in pool.shared()
    assert pool.shared()["retries"] == 1


def test_a_rating_stops_at_its_limit_of_calls_and_goes_on_with_a_higher_one(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        text = f'{FOUR}\n[providers.lab]\nbase_url = "{server.url()}"\n'
        played = ("--games", "8", "--models", "lab/one,bot/grudge", "--out", "games", *QUIET)
        assert command("batch", str(trio(tmp_path, text)), *played, cwd=tmp_path).code == 0
        assert command("pool", "games", "--out", "pool.json", cwd=tmp_path).code == 0
        options = ("--model", "bot/loyal", "--pool", "pool.json", "--games", "4", "--width", "0.1", *QUIET)
        stopped = command("rate", *options, "--max-calls", "2", "--max-wall", "500", cwd=tmp_path)
        assert (stopped.code, stopped.out) == (5, "")
        assert "max_calls" in stopped.err
        assert command("rate", *options, "--max-calls", "5000", "--max-wall", "500", cwd=tmp_path).code == 0


def failing_votes_of(players: str) -> FakeServer:
    unwell = Raw(500, {"error": {"message": "unwell"}})
    lost = {(player, "vote") for player in players}
    return FakeServer(lambda body: unwell if decided(body) in lost else varied_by_schema(body))


@pytest.mark.parametrize(("players", "lost"), [("", 0), ("A", 2), ("ABCD", 4)])
def test_the_strength_stands_with_and_without_the_games_that_lost_decisions_to_a_host(
    lab: Path, tmp_path: Path, players: str, lost: int
) -> None:
    """In a block of four games the rated model has two of four seats, and so A's seat in two games."""
    out = tmp_path / "out"
    words = ("rate", "--model", "ollama/echo", "--pool", "pool.json", "--games", "4", "--out", str(out), *QUIET)
    with failing_votes_of(players).in_thread() as server:
        env = {"OLLAMA_HOST": server.url().removesuffix("/v1")}
        said = command(*words, cwd=lab, env=env)
        found = json.loads(command(*words, "--json", cwd=lab, env=env).out)
    assert len(found["lost_to_host"]) == lost
    lines = [line for line in said.out.splitlines() if line.startswith("hosts: ")]
    if not lost:
        assert (found["without_host"], lines) == (None, [])
    elif lost == found["games"]:
        assert found["without_host"] is None
        assert lines == ["hosts: 4 of 4 games lost decisions to a host; no game is left without them"]
    else:
        value = found["without_host"]["value"]
        assert value != found["strength"]["value"]
        assert lines[0].startswith("hosts: 2 of 4 games lost decisions to a host; without them its log strength is ")
        assert f"{value:+.2f} (" in lines[0]
