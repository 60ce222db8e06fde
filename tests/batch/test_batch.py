"""`agentsim batch` as it is used: what it leaves, what it goes on with, and that a kill costs nothing."""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from agentsim.errors import UsageError
from agentsim.records.load import list_runs
from agentsim.records.run_files import MANIFEST, RunFiles
from agentsim.runs.batch import manifest
from agentsim.runs.batch.manifest import Design, locked, planned, prepared, read_manifest, require_manifest
from agentsim.scenario.load import load
from tests.amounts import amounts
from tests.cli.command_line import ROOT, agentsim, snapshot, trio
from tests.cli.processes import CommandProcess, in_a_process

QUIET = ("--display", "none")
pytestmark = pytest.mark.usefixtures("without_workers")


def whole(directory: Path) -> dict[str, Any]:
    """Every file of a batch by name, without what may differ between two executions of one game."""
    found: dict[str, Any] = {}
    for path in sorted(directory.iterdir()):
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        if path.name == MANIFEST:
            found[path.name] = lines
        elif path.suffix == ".json":
            found[path.name] = "\n".join(lines).partition('"volatile":')[0]
        else:
            records = [{key: value for key, value in json.loads(line).items() if key != "chain"} for line in lines]
            stays = [record for record in records if record["record"] not in {"run", "stop"}]
            head = {key: value for key, value in records[0].items() if key not in {"started_at", "versions"}}
            found[path.name] = [head, *stays]
    return found


def said(out: str) -> dict[str, Any]:
    assert out.count("\n") == 1
    line: dict[str, Any] = json.loads(out)
    return line


def test_each_game_leaves_the_files_that_run_leaves(tmp_path: Path) -> None:
    """A process of its own, whose workers play."""
    config = trio(tmp_path)
    done = in_a_process("batch", "--config", str(config), "--games", "3", "--out", "b", "--json", *QUIET, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    line = said(done.out)
    assert (line["done"], line["complete"], line["ended_now"]) == (3, True, {"completed": 3})
    plan = json.loads((tmp_path / "b" / MANIFEST).read_text("utf-8"))
    for game in plan["games"]:
        words = ("run", "--config", str(config), "--seed", str(game["seed"]), "--name", game["name"], "--no-html")
        assert agentsim(*words, *QUIET, cwd=tmp_path).code == 0
    by_hand, batch = whole(tmp_path / "logs"), whole(tmp_path / "b")
    batch.pop(MANIFEST)
    assert by_hand == batch
    assert len({game["seed"] for game in plan["games"]}) == 3


def test_workers_play_into_a_folder_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    folder = os.fsdecode(b"b\xff")
    done = in_a_process("batch", "--config", str(trio(tmp_path)), "--games", "2", "--out", folder, *QUIET, cwd=tmp_path)
    assert done.code == 0, done.err
    assert len([*(tmp_path / folder).glob("*.jsonl")]) == 2


def test_the_same_command_again_changes_nothing(tmp_path: Path) -> None:
    words = ("batch", "--config", str(trio(tmp_path)), "--games", "2", *QUIET)
    assert agentsim(*words, cwd=tmp_path).code == 0
    (folder,) = (tmp_path / "logs").iterdir()
    before = snapshot(folder)
    again = agentsim(*words, cwd=tmp_path)
    assert (again.code, snapshot(folder) == before) == (0, True)
    assert agentsim("resume", str(folder), *QUIET, cwd=tmp_path).code == 0
    assert snapshot(folder) == before


@pytest.mark.parametrize("left", [None, 300])
def test_a_finished_game_whose_journal_is_gone_is_not_played_again(tmp_path: Path, left: int | None) -> None:
    config = trio(tmp_path)
    words = ("batch", "--config", str(config), "--games", "2", "--out", "b", "--json", *QUIET)
    assert agentsim(*words, cwd=tmp_path).code == 0
    journal = tmp_path / "b" / "game_0001.jsonl"
    begun = journal.read_bytes()[:left] if left else None  # less than its first line
    journal.unlink()
    if begun is not None:
        journal.write_bytes(begun)
    before = snapshot(tmp_path / "b")
    again = agentsim(*words, cwd=tmp_path)
    assert (again.code, said(again.out)["done"], said(again.out)["ended_now"]) == (0, 2, {})
    assert snapshot(tmp_path / "b") == before


def test_a_game_of_which_only_a_broken_history_is_left_is_named_and_gets_no_other_name(tmp_path: Path) -> None:
    config = trio(tmp_path)
    words = ("batch", "--config", str(config), "--games", "2", "--out", "b", "--json", *QUIET)
    assert agentsim(*words, cwd=tmp_path).code == 0
    (tmp_path / "b" / "game_0001.jsonl").unlink()
    (tmp_path / "b" / "game_0001.json").write_text("{", encoding="utf-8")
    before = snapshot(tmp_path / "b")
    again = agentsim(*words, cwd=tmp_path)
    assert (again.code, said(again.out)["done"]) == (1, 1)
    assert "game_0001.jsonl is gone, and game_0001.json is there" in said(again.out)["errors"]["game_0001"]
    assert snapshot(tmp_path / "b") == before


def test_a_finished_games_broken_history_is_made_again_and_said(tmp_path: Path) -> None:
    words = ("batch", "--config", str(trio(tmp_path)), "--games", "3", "--out", "b", *QUIET)
    assert agentsim(*words, cwd=tmp_path).code == 0
    before = whole(tmp_path / "b")
    (tmp_path / "b" / "game_0002.json").write_text("{", encoding="utf-8")
    shutil.copy(tmp_path / "b" / "game_0003.json", tmp_path / "b" / "game_0001.json")
    said = agentsim("resume", "b", "--json", *QUIET, cwd=tmp_path)
    assert said.code == 0
    assert said.line == "2 histories are made again from the journal: game_0001.json is another game's"
    assert (json.loads(said.out)["done"], json.loads(said.out)["ended_now"]) == (3, {})
    assert whole(tmp_path / "b") == before


def test_a_folder_of_another_batch_is_left_alone(tmp_path: Path) -> None:
    config = trio(tmp_path)
    assert agentsim("batch", "--config", str(config), "--games", "1", "--out", "b", *QUIET, cwd=tmp_path).code == 0
    before = snapshot(tmp_path / "b")
    words = ("batch", "--config", str(config), "--games", "1", "--out", "b", *QUIET)
    other = agentsim(*words, "--seed", "8", cwd=tmp_path)
    assert (other.code, "seed: 7 there, 8 here" in other.line) == (2, True)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "x.jsonl").write_text("{}\n", encoding="utf-8")
    mixed = agentsim("batch", "--config", str(config), "--games", "2", "--out", "runs", *QUIET, cwd=tmp_path)
    assert (mixed.code, "holds other runs" in mixed.line) == (2, True)
    assert snapshot(tmp_path / "b") == before


def test_the_same_command_with_more_games_plays_those_alone(tmp_path: Path) -> None:
    """What is planned stays as it is; in the end it is the batch that was asked for with all at once."""
    words = ("batch", "--config", str(trio(tmp_path)), "--rotate", "--jobs", "1", "--json", *QUIET)
    assert agentsim(*words, "--games", "2", cwd=tmp_path).code == 0
    (folder,) = (tmp_path / "logs").iterdir()
    played = {name: file for name, file in snapshot(folder).items() if name != MANIFEST}
    more = agentsim(*words, "--games", "5", cwd=tmp_path)
    assert (more.code, said(more.out)["done"], said(more.out)["ended_now"]) == (0, 5, {"completed": 3})
    assert played.items() <= snapshot(folder).items()
    (tmp_path / "whole").mkdir()
    planned(Design(7, 5, rotate=True), [load(trio(tmp_path))]).write(tmp_path / "whole")
    assert (folder / MANIFEST).read_bytes() == (tmp_path / "whole" / MANIFEST).read_bytes()
    before = snapshot(folder)
    fewer = agentsim(*words, "--games", "4", cwd=tmp_path)
    assert (fewer.code, "holds 5 games of this batch, and not 4" in fewer.line) == (2, True)
    assert snapshot(folder) == before


def test_games_that_are_planned_keep_their_names_where_more_need_longer_ones(tmp_path: Path) -> None:
    casts = [load(trio(tmp_path))]
    prepared(planned(Design(7, 9_999), casts), tmp_path / "b", tmp_path)
    _, more = prepared(planned(Design(7, 10_001), casts), tmp_path / "b", tmp_path)
    assert [game.name for game in more.games[9_998:]] == ["game_9999", "game_10000", "game_10001"]
    assert require_manifest(tmp_path / "b").games == more.games
    assert prepared(planned(Design(7, 10_001), casts), tmp_path / "b", tmp_path)[1] == more


def test_a_batch_that_is_being_played_does_not_grow(tmp_path: Path) -> None:
    casts = [load(trio(tmp_path))]
    prepared(planned(Design(7, 2), casts), tmp_path / "b", tmp_path)
    before = snapshot(tmp_path / "b")
    with locked(tmp_path / "b"), pytest.raises(UsageError, match="another process is playing"):
        prepared(planned(Design(7, 3), casts), tmp_path / "b", tmp_path)
    assert snapshot(tmp_path / "b") == before


def test_the_lock_of_a_manifest_that_was_replaced_holds_nobody_out_and_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between opening a manifest and locking it another process puts a longer one in its place, and plays that."""
    casts = [load(trio(tmp_path))]
    prepared(planned(Design(7, 2), casts), tmp_path, tmp_path)
    flock, held = fcntl.flock, ExitStack()

    def late(handle: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        prepared(planned(Design(7, 3), casts), tmp_path, tmp_path)
        held.enter_context(locked(tmp_path))
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with held, pytest.raises(UsageError, match="another process is playing"), locked(tmp_path):
        pytest.fail("both play")


def test_a_batch_whose_games_are_done_needs_no_key(tmp_path: Path) -> None:
    config = trio(tmp_path)
    assert agentsim("batch", "--config", str(config), "--games", "1", "--out", "b", *QUIET, cwd=tmp_path).code == 0
    path = tmp_path / "b" / MANIFEST
    path.write_text(path.read_text("utf-8").replace("bot/random", "openai/gpt-5-mini"), encoding="utf-8")
    assert agentsim("resume", "b", *QUIET, cwd=tmp_path, env={"OPENAI_API_KEY": ""}).code == 0


def test_of_two_who_begin_a_batch_at_once_the_later_takes_the_others_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second has looked for a manifest before the first wrote its own; a seed that it drew would be another one."""
    wanted = planned(Design(-1, 3), [load(trio(tmp_path))])
    _, first = prepared(wanted, tmp_path / "b", tmp_path)
    before = snapshot(tmp_path / "b")
    looks = iter([None, manifest.read_manifest(tmp_path / "b")])
    monkeypatch.setattr(manifest, "read_manifest", lambda directory: next(looks))
    _, second = prepared(wanted, tmp_path / "b", tmp_path)
    assert (second.games == first.games, snapshot(tmp_path / "b") == before) == (True, True)


def test_no_run_takes_the_manifests_name(tmp_path: Path) -> None:
    words = ("run", "--config", str(trio(tmp_path)), "--name", "Manifest.json", *QUIET)
    refused = agentsim(*words, cwd=tmp_path)
    assert (refused.code, "is a batch's plan" in refused.line) == (2, True)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"name": "../one"}, "not the name of a run"),
        ({"name": "game_0002"}, "two games are called game_0002"),
        ({"seats": [0, 1]}, "does not seat each of 3 players"),
        ({"seats": [0, 1, 1]}, "does not seat each of 3 players"),
        ({"seats": [0, 1, 9]}, "does not seat each of 3 players"),
        ({"models": [0, 0, 1]}, "one of 0 models"),
        ({"seed": -1}, "games.0.seed: must be greater than or equal to 0"),
        ({"seed": float("inf")}, "games.0.seed: must be a valid integer"),
    ],
)
def test_a_manifest_whose_games_cannot_be_played_is_refused(
    changed: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    planned(Design(5, 2), [load(trio(tmp_path))]).write(tmp_path)
    path = tmp_path / MANIFEST
    plan = json.loads(path.read_text("utf-8"))
    plan["games"][0] |= changed
    path.write_text(json.dumps(plan), encoding="utf-8")
    with pytest.raises(UsageError, match=f"is not a batch's manifest: .*{problem}"):
        read_manifest(tmp_path)


def test_models_take_the_seats_in_turn(tmp_path: Path) -> None:
    models = ("bot/random", "bot/grudge", "bot/loyal")
    words = ("--games", "4", "--models", ",".join(models), "--paired", "--out", "b", "--json", *QUIET)
    done = agentsim("batch", "--config", str(trio(tmp_path)), *words, cwd=tmp_path)
    assert done.code == 0
    assert "uneven: each model in each seat: 1 to 2 times" in done.err
    histories = [json.loads(RunFiles(tmp_path / "b", f"game_000{n}").history.read_text("utf-8")) for n in (1, 2, 3, 4)]
    first = [[player["model"] for player in history["players"]] for history in histories[:3]]
    assert all(sorted(column) == sorted(models) for column in (*first, *zip(*first, strict=True)))
    assert len({history["seed"] for history in histories[:3]}) == 1
    assert histories[3]["seed"] != histories[0]["seed"]
    assert all([player["id"] for player in history["players"]] == ["A", "B", "C"] for history in histories)


def test_rotating_seats_moves_players_with_their_models(tmp_path: Path) -> None:
    words = ("--games", "3", "--rotate", "--out", "b", *QUIET)
    assert agentsim("batch", "--config", str(trio(tmp_path)), *words, cwd=tmp_path).code == 0
    orders = []
    for number in (1, 2, 3):
        history = json.loads(RunFiles(tmp_path / "b", f"game_000{number}").history.read_text("utf-8"))
        orders.append([player["id"] for player in history["players"]])
        assert {player["id"]: player["model"] for player in history["players"]}["B"] == "bot/grudge"
    assert all(sorted(column) == ["A", "B", "C"] for column in zip(*orders, strict=True))


def test_a_batch_is_no_run_of_its_folder(tmp_path: Path) -> None:
    words = ("batch", "--config", str(trio(tmp_path)), "--games", "2", "--out", "b", "--html", *QUIET)
    assert agentsim(*words, cwd=tmp_path).code == 0
    assert {run.name for run in list_runs(tmp_path / "b")} == {"game_0001", "game_0002"}
    assert agentsim("export", "b", cwd=tmp_path).code == 0
    assert (tmp_path / "b" / "game_0001.html").is_file()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--paired",), "there is nothing to pair"),
        (("--models", "bot/random,bot/random"), "names one twice"),
        (("--models", "bot/nobody"), "bot/nobody"),
        (("--games", "0"), "games"),
        (("--set", "players.0.model=human"), "is a person"),
        (("--models", "bot/random,human"), "one player can be human"),
    ],
)
def test_what_cannot_be_played_is_said_before_anything_is_written(
    words: tuple[str, ...], problem: str, tmp_path: Path
) -> None:
    config = trio(tmp_path)
    refused = agentsim("batch", "--config", str(config), "--games", "2", *words, *QUIET, cwd=tmp_path)
    assert (refused.code, problem in refused.line) == (2, True), refused.err
    assert list(tmp_path.iterdir()) == [config]


def test_only_one_process_plays_a_batch(tmp_path: Path) -> None:
    from agentsim.runs.batch.manifest import locked

    words = ("batch", "--config", str(trio(tmp_path)), "--games", "1", "--out", "b", *QUIET)
    assert agentsim(*words, cwd=tmp_path).code == 0
    with locked(tmp_path / "b"):
        assert "another process is playing this batch" in agentsim(*words, cwd=tmp_path).line


@pytest.mark.slow
def test_batch_sh_plays_the_same_games_and_goes_on(tmp_path: Path) -> None:
    config = trio(tmp_path)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    words = ["bash", str(ROOT / "docs" / "batch.sh"), str(config), "2", str(tmp_path / "b")]
    for _ in range(2):
        done = subprocess.run(words, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert [json.loads(line)["name"] for line in done.stdout.splitlines()] == ["seed_1", "seed_2"]
        assert [run.status for run in list_runs(tmp_path / "b")] == ["completed"] * 2


@pytest.mark.parametrize(
    ("exits", "code", "played"),
    [("0 4 0", 0, 3), ("4 4 4", 0, 3), ("0 3 0", 3, 2), ("1", 1, 1), ("5", 5, 1)],
    ids=["one degraded", "all degraded", "stopped by the provider", "failed", "budget"],
)
def test_batch_sh_goes_on_after_a_degraded_game_and_after_no_other_failure(
    exits: str, code: int, played: int, tmp_path: Path
) -> None:
    """A stand-in for the program writes its arguments down and exits with the next of these codes."""
    stand_in, calls = tmp_path / "agentsim", tmp_path / "calls"
    code_of_game = f'"${{codes[$(wc -l < {calls})]}}"'
    stand_in.write_text(f'#!/bin/bash\necho "$@" >> {calls}\ncodes=(- {exits})\nexit {code_of_game}\n')
    stand_in.chmod(0o755)
    words = ["bash", str(ROOT / "docs" / "batch.sh"), "game.toml", "3", str(tmp_path / "b")]
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    seeds = [line.split()[4] for line in calls.read_text().splitlines()]
    assert (done.returncode, seeds) == (code, ["1", "2", "3"][:played]), done.stderr


GAMES_OF_A_KILL = 20


def _start(config: Path, out: Path, games: int) -> CommandProcess:
    words = ("batch", "--config", str(config), "--games", str(games), "--out", str(out), "--jobs", "2", *QUIET)
    return CommandProcess(*words, cwd=out.parent, stderr=subprocess.PIPE)


def _over(out: Path) -> int:
    return len(list(out.glob("game_*.json"))) if out.is_dir() else 0


@pytest.mark.timeout(240)
@amounts("kills", 3, 10)
def test_a_batch_killed_at_random_moments_equals_the_undisturbed_one_file_by_file(kills: int, tmp_path: Path) -> None:
    rng, games = random.Random(20261122), GAMES_OF_A_KILL * kills
    config = trio(tmp_path)
    undisturbed = _start(config, tmp_path / "whole", games)
    assert undisturbed.wait(120) == 0, undisturbed.stderr and undisturbed.stderr.read()
    out = tmp_path / "killed"
    killed = 0
    for moment in sorted(rng.randrange(games - 5) for _ in range(kills)):
        process = _start(config, out, games)
        while process.poll() is None and _over(out) < moment:
            time.sleep(0.002)  # polls a folder that another process fills
        time.sleep(rng.random() * 0.02)  # anywhere inside a game
        process.kill()
        killed += process.wait(30) == -signal.SIGKILL
        assert process.stderr is not None
        process.stderr.close()
    last = _start(config, out, games)
    assert last.wait(120) == 0, last.stderr and last.stderr.read()
    for process in (undisturbed, last):
        assert process.stderr is not None
        process.stderr.close()
    assert killed == kills
    assert whole(out) == whole(tmp_path / "whole")
    assert not list(out.glob(".*")), "nothing half-written is left"
