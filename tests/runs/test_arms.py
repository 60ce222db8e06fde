"""Arms of a fork: each is compared with its control, numbered once, with one luck per number, and paid for once."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentsim.errors import UsageError
from agentsim.records.history import Branch
from agentsim.records.load import branches_in, load_history
from agentsim.records.run_files import RunFiles
from agentsim.runs.fork import Change, ForkPoint, jobs_of_arm
from agentsim.runs.replay import prove
from agentsim.runs.run import RunOptions
from tests.cli.command_line import Said, agentsim, snapshot
from tests.cli.processes import CommandProcess, in_a_process
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import branch_of
from tests.runs.island import play

QUIET = ("--logs-dir", ".", "--display", "none", "--no-html", "--json")
ARM = ("--arm", "loyal", "--set", "players.0.model=bot/loyal")


def forked(directory: Path, *words: str, at: int = 2) -> Said:
    return agentsim("fork", "parent", "--at", str(at), *words, *QUIET, cwd=directory)


def names(said: Said) -> list[str]:
    assert said.code == 0, said.err
    return [json.loads(line)["name"] for line in said.out.splitlines()]


def fork_of(directory: Path, name: str) -> Branch:
    fork = load_history(directory / f"{name}.json").fork
    assert fork is not None
    return fork


def test_an_arm_is_played_with_its_control_and_branch_k_of_both_has_one_luck(parent: RunFiles) -> None:
    made = names(forked(parent.directory, *ARM, "--branches", "3"))
    assert made == [f"parent_at2_{arm}_b{k}" for k in (1, 2, 3) for arm in ("loyal", "control")]
    forks = [fork_of(parent.directory, name) for name in made]
    assert [(fork.arm, fork.branch) for fork in forks] == [(arm, k) for k in (1, 2, 3) for arm in ("loyal", "control")]
    assert [fork.changed for fork in forks[:2]] == [["players.0.model=bot/loyal"], []]
    assert [one.salts == other.salts for one, other in zip(forks[::2], forks[1::2], strict=True)] == [True] * 3
    assert len({str(fork.salts) for fork in forks}) == 3
    heads = {files.name: branch.arm for files, branch in branches_in(parent.directory)}
    assert heads == {name: fork.arm for name, fork in zip(made, forks, strict=True)}
    for name in made:
        prove(RunFiles(parent.directory, name))


def test_the_same_command_again_plays_only_what_is_missing(parent: RunFiles) -> None:
    first = names(forked(parent.directory, *ARM, "--branches", "2"))
    before = snapshot(parent.directory)
    assert names(forked(parent.directory, *ARM, "--branches", "2")) == first
    assert snapshot(parent.directory) == before
    assert names(forked(parent.directory, *ARM, "--branches", "3"))[:4] == first
    other = names(forked(parent.directory, "--arm", "other", "--set", "players.2.model=bot/random", "--branches", "3"))
    assert [name for name in other if "control" in name] == [f"parent_at2_control_b{k}" for k in (1, 2, 3)]
    assert len([name for name in snapshot(parent.directory) if "control" in name and name.endswith(".json")]) == 3


def test_a_branch_that_was_stopped_is_ended_by_the_same_command_and_nothing_is_asked_twice(
    varied: FakeServer, tmp_path: Path
) -> None:
    play(varied.url(), tmp_path, stem="parent")
    asked = varied.started["ok"]
    arm = ("--arm", "hot", "--set", "players.0.temperature=1.2", "--branches", "2")
    stopped = forked(tmp_path, *arm, "--max-calls", "2", at=10)
    assert stopped.code == 5
    assert varied.started["ok"] - asked == 8, "two calls of each of four branches"
    made = names(forked(tmp_path, *arm, "--max-calls", "99", at=10))
    paid = 0
    for name in made:
        fork = fork_of(tmp_path, name)
        assert fork.paid is not None
        paid += fork.paid.calls
        prove(RunFiles(tmp_path, name))
    assert varied.started["ok"] - asked == paid


def test_stopped_branches_without_an_arm_are_ended_before_new_ones_are_made(varied: FakeServer, tmp_path: Path) -> None:
    play(varied.url(), tmp_path, stem="parent")
    asked = varied.started["ok"]
    assert forked(tmp_path, "--branches", "2", "--max-calls", "2", at=10).code == 5
    made = names(forked(tmp_path, "--branches", "3", "--max-calls", "99", at=10))
    assert made == ["parent_at10_b1", "parent_at10_b2", "parent_at10_b3"]
    paid = [fork_of(tmp_path, name).paid for name in made]
    assert varied.started["ok"] - asked == sum(each.calls for each in paid if each is not None)


@pytest.mark.parametrize("jobs", [1, 6])
def test_branches_are_played_at_once_and_each_is_what_it_is_alone(jobs: int, tmp_path: Path) -> None:
    in_flight: list[int] = []

    def waited(_body: object) -> float:
        in_flight.append(server.started["ok"] - server.completed["ok"])
        return 0.01

    with FakeServer(varied_by_schema, latency_s=waited).in_thread() as server:
        play(server.url(), tmp_path, stem="parent")
        in_flight.clear()
        arm = ("--arm", "hot", "--set", "players.0.temperature=1.2", "--branches", "3")
        made = names(forked(tmp_path, *arm, "--jobs", str(jobs), at=10))
    assert (max(in_flight) > 4) == (jobs > 1), "four players of one branch are asked at once"
    assert sorted(made) == sorted(f"parent_at10_{arm}_b{k}" for k in (1, 2, 3) for arm in ("hot", "control"))
    for name in made:
        prove(RunFiles(tmp_path, name))


@pytest.mark.timeout(60)
def test_a_signal_ends_all_branches_in_order_and_the_same_command_goes_on(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema, latency_s=0.05).in_thread() as server:
        play(server.url(), tmp_path, stem="parent")
        asked = server.started["ok"]
        words = (
            "fork",
            "parent",
            "--at",
            "10",
            "--arm",
            "hot",
            "--set",
            "players.0.temperature=1.2",
            "--branches",
            "3",
        )
        process = CommandProcess(*words, *QUIET, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while process.poll() is None and server.started["ok"] - asked < 30:
            time.sleep(0.001)  # polls another process does
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "Traceback" not in said
        assert names(agentsim(*words, *QUIET, cwd=tmp_path))
        forks = [branch for _, branch in branches_in(tmp_path)]
        assert len(forks) == 6
        paid = [fork_of(tmp_path, files.name).paid for files, _ in branches_in(tmp_path)]
        lost = server.started["ok"] - asked - sum(each.calls for each in paid if each is not None)
    assert 0 <= lost <= 6 * 4, "calls in flight"


def test_a_person_at_the_terminal_plays_one_branch_at_a_time(parent: RunFiles) -> None:
    arm = ("--arm", "mine", "--set", "players.0.model=human", "--branches", "2")
    said = forked(parent.directory, *arm, "--jobs", "2")
    assert said.code == 2
    assert said.line == "--jobs 2: a person at this terminal plays one branch at a time (valid: 1)"


@pytest.mark.parametrize("jobs", [1, 6])
@pytest.mark.timeout(120)
def test_a_killed_command_goes_on_and_loses_the_calls_in_flight_alone(jobs: int, tmp_path: Path) -> None:
    with FakeServer(varied_by_schema, latency_s=0.02).in_thread() as server:
        play(server.url(), tmp_path, stem="parent")
        asked, kills = server.started["ok"], 0
        words = ("fork", "parent", "--at", "10", "--arm", "hot", "--set", "players.0.temperature=1.2")
        given = (*words, "--branches", "3", "--jobs", str(jobs), *QUIET)
        for moment in (3, 20):
            process = CommandProcess(*given, cwd=tmp_path)
            deadline = time.monotonic() + 60
            while process.poll() is None and server.started["ok"] - asked < moment and time.monotonic() < deadline:
                time.sleep(0.001)  # polls another process does
            kills += process.poll() is None
            process.kill()
            process.wait()
        assert kills == 2
        done = in_a_process(*given, cwd=tmp_path)
        assert done.code == 0, done.err
        made = [json.loads(line)["name"] for line in done.out.splitlines()]
        forks = [fork_of(tmp_path, name) for name in made]
        assert sorted((fork.arm, fork.branch) for fork in forks) == [
            (arm, number) for arm in ("control", "hot") for number in (1, 2, 3)
        ]
        paid = sum(fork.paid.calls for fork in forks if fork.paid is not None)
        assert 0 <= server.started["ok"] - asked - paid <= kills * 4 * jobs, (
            "four players of a branch are asked at once"
        )
    for name in made:
        prove(RunFiles(tmp_path, name))


LOYAL = Change(settings=("players.0.model=bot/loyal",))


def test_two_commands_at_once_make_no_number_twice(parent: RunFiles) -> None:
    cut = ForkPoint.of(parent, 2)

    def make(_: int) -> int:
        refused = 0
        for wanted in jobs_of_arm(cut, "loyal", 4, LOYAL):
            try:
                wanted.run(RunOptions({})).journal.close()
            except UsageError:
                refused += 1
        return refused

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(make, range(3)))
    made = sorted((branch.arm, branch.branch) for _, branch in branches_in(parent.directory))
    assert made == [(arm, number) for arm in ("control", "loyal") for number in (1, 2, 3, 4)]


def test_a_branch_that_another_process_plays_is_left_to_it(parent: RunFiles) -> None:
    wanted, control = jobs_of_arm(ForkPoint.of(parent, 2), "loyal", 1, LOYAL)
    run = wanted.run(RunOptions({}))
    said = forked(parent.directory, *ARM)
    assert names(said) == ["parent_at2_control_b1"]
    assert said.line == "parent_at2_loyal_b1 is being played by another process"
    run.journal.close()
    assert names(forked(parent.directory, *ARM)) == ["parent_at2_loyal_b1", "parent_at2_control_b1"]
    assert control.files is None, "it was not there when it was asked for"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--arm", "control", "--set", "players.0.model=bot/loyal"), "--arm control: changes nothing"),
        (("--arm", "../x", "--set", "players.0.model=bot/loyal"), "'../x' is not the name"),
        ((*ARM, "--paired"), "--paired: branches of an arm have chance of their own"),
        (("--arm", "mad", "--set", "players.0.model=bot/nobody"), 'the model of A: agent_island has no "bot/nobody"'),
    ],
)
def test_what_cannot_be_an_arm_is_a_line(words: tuple[str, ...], problem: str, parent: RunFiles) -> None:
    before = snapshot(parent.directory)
    said = forked(parent.directory, *words)
    assert (said.code, said.out, said.line[: len(problem)]) == (2, "", problem)
    assert snapshot(parent.directory) == before


def test_an_arm_cannot_change_what_it_is(parent: RunFiles) -> None:
    names(forked(parent.directory, *ARM))
    before = snapshot(parent.directory)
    said = forked(parent.directory, "--arm", "loyal", "--set", "players.1.model=bot/loyal")
    assert said.code == 2
    assert "parent_at2_loyal_b1 is of this arm and changes players.0.model=bot/loyal" in said.line
    assert names(forked(parent.directory, "--arm", "loyal", "--set", 'players.0.model = "bot/loyal"'))
    assert snapshot(parent.directory) == before, "the same value, written otherwise"


def test_a_branch_from_before_arms_keeps_its_record(parent: RunFiles) -> None:
    files = branch_of(ForkPoint.of(parent, 2), number=1).play_sync().files
    assert "arm" not in json.loads(files.history.read_text("utf-8"))["fork"]
    prove(files)


def test_several_branches_are_a_line_each_and_end_with_the_next_step(parent: RunFiles) -> None:
    """A branch is one line, since displays would repeat the shared past; branches that are finished are counted."""
    words = ("fork", "parent", "--at", "2", "--logs-dir", ".", "--no-html", "--branches", "2")
    first = agentsim(*words, *ARM, cwd=parent.directory)
    *rows, last = first.out.splitlines()
    assert [row.partition(":")[0] for row in rows] == [
        f"parent_at2_{arm}_b{k}" for k in (1, 2) for arm in ("loyal", "control")
    ]
    assert all(": completed; winner: " in row for row in rows)
    assert last == "compare the arms: agentsim compare parent --logs-dir ."
    assert first.err == ""
    other = agentsim(*words, "--arm", "other", "--set", "players.2.model=bot/random", cwd=parent.directory)
    assert [row.partition(":")[0] for row in other.out.splitlines()[:-1]] == [
        "parent_at2_other_b1",
        "parent_at2_other_b2",
    ]
    assert other.err == "2 of 4 branches were finished already: nothing was played there\n"
    listed = agentsim("runs", "--logs-dir", ".", cwd=parent.directory).out
    assert "branch 2 of arm other of parent at 2; " in listed
