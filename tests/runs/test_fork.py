"""Forks: a branch keeps the past, makes the rest anew, and never pays for the past again."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentsim.analysis.finished_games import game_record, read_games, without_branches
from agentsim.errors import AgentsimError, ScenarioError, UsageError
from agentsim.records.journal import read_journal
from agentsim.records.load import list_runs, load_history
from agentsim.records.run_files import RunFiles
from agentsim.records.tables import run_tables
from agentsim.runs.fork import ForkPoint
from agentsim.runs.replay import prove, without_volatile
from agentsim.scenario.load import load
from tests.cli.command_line import ROOT, agentsim, snapshot
from tests.fakes.journals import change_line
from tests.fakes.server import FakeServer
from tests.playing import branch_of, play_scenario
from tests.runs.island import play

pytestmark = pytest.mark.usefixtures("few_draws")


def history(files: RunFiles) -> dict[str, Any]:
    found: dict[str, Any] = without_volatile(json.loads(files.history.read_text("utf-8")))
    return found


def branched(files: RunFiles, at: int, **options: Any) -> RunFiles:
    return branch_of(ForkPoint.of(files, at), **options).play_sync().files


def test_a_fork_that_changes_nothing_is_the_parent_wherever_it_leaves_it(parent: RunFiles) -> None:
    whole = history(parent)
    for at in range(1, len(whole["decisions"]) + 1):
        again = history(branched(parent, at))
        assert again.pop("fork")["at"] == at
        assert again == whole


@pytest.mark.parametrize("config", [pytest.param("monopoly_bots", marks=pytest.mark.slow), "auction"])
def test_every_game_can_be_forked_in_its_middle(config: str, tmp_path: Path) -> None:
    scenario = load(ROOT / "configs" / f"{config}.toml", seed=2, model="bot/random")
    files = play_scenario(scenario, tmp_path, env={}, stem="parent").files
    middle = len(history(files)["decisions"]) // 2
    same, other = branched(files, middle), branched(files, middle, number=1)
    again = history(same)
    del again["fork"]
    assert again == history(files)
    assert history(other)["decisions"][: middle - 1] == again["decisions"][: middle - 1]
    assert history(other)["decisions"] != again["decisions"]
    prove(other)


def test_branches_have_their_own_luck_and_the_same_past(parent: RunFiles) -> None:
    branches = [history(branched(parent, 2, number=number)) for number in range(1, 9)]
    decisions = history(parent)["decisions"]
    wave = decisions[1]["wave"]
    past = [each for each in decisions if each["wave"] <= wave]
    for branch in branches:
        assert branch["decisions"][: len(past)] == past
    assert len({json.dumps(branch["decisions"]) for branch in branches}) > 1
    paired = [history(branched(parent, 2, number=number, paired=True)) for number in (1, 2)]
    assert paired[0]["decisions"] == paired[1]["decisions"] == decisions


def test_a_branch_replays_and_a_fork_of_a_fork_keeps_both_turns(parent: RunFiles) -> None:
    first = branched(parent, 2, number=3)
    prove(first)
    last = len(history(first)["decisions"])
    second = branched(first, last)
    again, before = history(second), history(first)
    assert again.pop("fork")["of"] == first.name
    assert before.pop("fork")["of"] == "parent"
    assert again == before, "the first turn of luck is a part of the past"
    prove(second)


def test_a_decision_that_is_given_is_in_the_place_of_the_other(parent: RunFiles) -> None:
    votes = [each for each in history(parent)["decisions"] if each["kind"] == "vote"]
    vote = votes[0]
    ballot = [player for player in "ABC" if player not in {vote["player"], vote["decision"]["vote"]}]
    files = branched(parent, vote["index"], instead=json.dumps({**vote["decision"], "vote": ballot[0]}))
    forked = history(files)["decisions"][vote["index"] - 1]
    assert (forked["decision"]["vote"], forked["source"]) == (ballot[0], "human")
    assert history(files)["fork"]["instead"]["vote"] == ballot[0]
    prove(files)


def test_the_others_of_the_wave_keep_their_decisions(parent: RunFiles) -> None:
    decisions = history(parent)["decisions"]
    wave = next(each["wave"] for each in decisions if each["kind"] == "vote")
    mates = [each for each in decisions if each["wave"] == wave]
    assert len(mates) == 3
    branch = branch_of(ForkPoint.of(parent, mates[1]["index"]))
    kept = read_journal(branch.files.journal).decisions
    assert sorted(key for key in kept if key[0] == wave) == [(wave, 0), (wave, 2)]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"instead": '{"text": '}, "--instead"),
        ({"changes": ("game_config.rounds=2",)}, "cannot be changed by a fork"),
        ({"changes": ("players.0.id=Z",)}, "who plays cannot change"),
        ({"changes": ("players.0.model=bot/nobody",)}, 'agent_island has no "bot/nobody" \\(valid: bot/'),
        ({"changes": ("players.0.model=human", "players.B.model=human")}, "the model of B: one player can be human"),
        ({"changes": ("players.0.nosuch=1",)}, "players.0.nosuch"),
        ({"changes": ("players.A.nosuch=1",)}, "players.A.nosuch"),
        ({"changes": ("players.0.model=openai/gpt-5",)}, "OPENAI_API_KEY"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    options: dict[str, Any], problem: str, parent: RunFiles
) -> None:
    before = snapshot(parent.directory)
    with pytest.raises((UsageError, ScenarioError), match=problem):
        branch_of(ForkPoint.of(parent, 1), **options)
    assert snapshot(parent.directory) == before


def test_a_decision_that_is_not_there_is_named_with_those_that_are(parent: RunFiles) -> None:
    with pytest.raises(UsageError, match=r"has no decision 99 \(valid: 1 to \d+\)"):
        ForkPoint.of(parent, 99)


def test_the_shared_past_is_not_paid_for_again(varied: FakeServer, tmp_path: Path) -> None:
    whole = play(varied.url(), tmp_path, stem="parent")
    decisions = whole.history["decisions"]
    asked = varied.started["ok"]
    assert asked == len(decisions)
    at = decisions[9]["index"]
    mates = sum(each["wave"] == decisions[9]["wave"] for each in decisions)
    before = sum(each["wave"] < decisions[9]["wave"] for each in decisions)
    same = branched(whole.files, at)
    assert varied.started["ok"] - asked == len(decisions) - before - (mates - 1)
    again = history(same)
    del again["fork"]
    assert again == history(whole.files), "the same prompts have the same replies here"
    assert agentsim("resume", same.name, "--logs-dir", str(tmp_path), cwd=tmp_path).code == 0
    assert varied.started["ok"] - asked == len(decisions) - before - (mates - 1)


def test_a_branch_tells_what_it_paid_and_its_limits_hold_for_that(varied: FakeServer, tmp_path: Path) -> None:
    whole = play(varied.url(), tmp_path, stem="parent")
    calls = whole.history["usage"]["calls"]
    asked = varied.started["ok"]
    words = ("fork", "parent", "--at", "10", "--logs-dir", ".", "--display", "none", "--no-html")
    said = agentsim(*words, "--max-calls", "2", "--json", cwd=tmp_path)
    assert (said.code, varied.started["ok"] - asked) == (5, 2), "the parent's calls count for no limit of the branch"
    name = json.loads(said.out)["name"]
    done = agentsim("resume", name, "--logs-dir", ".", "--display", "none", "--max-calls", "99", cwd=tmp_path)
    own = varied.started["ok"] - asked
    assert done.code == 0
    assert f"calls: {own} (" in done.out
    fork, usage = history(RunFiles(tmp_path, name))["fork"], history(RunFiles(tmp_path, name))["usage"]
    assert (fork["paid"]["calls"], fork["inherited"]["calls"], usage["calls"]) == (own, calls - own, calls)
    for key in usage.keys() - {"by_player", "cost_usd"}:
        assert fork["paid"][key] + fork["inherited"][key] == usage[key]
    (parent_cost, branch_cost) = (fork["inherited"]["cost_usd"], fork["paid"]["cost_usd"])
    listed = {run.name: run.cost_usd for run in list_runs(tmp_path)}
    assert listed == {"parent": whole.history["usage"]["cost_usd"], name: branch_cost}
    assert parent_cost is None or parent_cost > 0
    prove(RunFiles(tmp_path, name))
    record = game_record(name, load_history(tmp_path / f"{name}.json"))
    assert record is not None
    assert sum(entrant.calls for entrant in record.entrants) == own
    tables = run_tables(load_history(tmp_path / f"{name}.json"))
    place = tables["usage"].columns.index("calls")
    assert sum(int(str(row[place])) for row in tables["usage"].rows) == own
    inherited = tables["decisions"].columns.index("inherited")
    assert sum(row[inherited] is False for row in tables["decisions"].rows) == own


_DEEP = 5_000
NOTHING_THERE = {
    "a list in lists": "[" * _DEEP + "]" * _DEEP,
    "lists that never end": "[" * _DEEP,
    "an object in objects": '{"vote":' * _DEEP + "1" + "}" * _DEEP,
    "objects that never end": '{"vote":' * _DEEP,
    "in the field": f'{{"vote": {"[" * _DEEP}"B"{"]" * _DEEP}}}',
    "quotes of Python": "{'vote':" * _DEEP + "}" * _DEEP,
    "without quotes": "{vote:" * _DEEP + "}" * _DEEP,
    "tags": "<vote>" * _DEEP,
}


CANNOT_BE = {
    "players that are a number": ("players=5", "players: must be a list"),
    "a player that is a list": ("players.0=[[1]]", "players.0: must be a table"),
    "players of one word": ("players={a=1}", "players: must be a list"),
    "another player": ('players.0.id="Z"', "--set players: who plays cannot change in the middle of a game"),
    "no player": ("players=[]", "--set players: who plays cannot change in the middle of a game"),
    "a date": ("players.0.prompt=2024-01-01", "players.0.prompt: must be in quotes, found the date 2024-01-01"),
    "a time": ("staff.x=07:32:00", "staff.x: must be in quotes, found the date 07:32:00"),
    "no number": ("players.0.temperature=nan", "players.0.temperature: must be a finite number, found nan"),
    "a key": ("players.0.prompt=sk-abcdefghijklmnop1234", "players.0.prompt: looks like a key or password; keys come"),
    "a key by name": ("providers.lab.api_key=x", "providers.lab.api_key: looks like a key or password; keys come"),
}


REFUSED = {
    **{name: ("--instead", deep, "--instead: ") for name, deep in NOTHING_THERE.items()},
    **{name: ("--set", change, problem) for name, (change, problem) in CANNOT_BE.items()},
    "no limit": ("--max-cost", "nan", "Invalid value for '--max-cost'"),
}


@pytest.mark.parametrize(("option", "value", "problem"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_a_line_and_no_branch(parent: RunFiles, option: str, value: str, problem: str) -> None:
    at = next(each["index"] for each in history(parent)["decisions"] if each["kind"] == "vote")
    before = snapshot(parent.directory)
    said = agentsim("fork", "parent", "--at", str(at), option, value, "--logs-dir", ".", cwd=parent.directory)
    assert (said.code, said.out, said.line[: len(problem)]) == (2, "", problem)
    assert snapshot(parent.directory) == before


def test_a_decision_that_is_none_is_answered_with_the_question_and_an_example(parent: RunFiles) -> None:
    vote = next(each for each in history(parent)["decisions"] if each["kind"] == "vote")
    words = ("--at", str(vote["index"]), "--instead", "{bad", "--logs-dir", ".")
    said = agentsim("fork", "parent", *words, cwd=parent.directory)
    where, _, example = said.line.partition(", such as ")
    assert where.endswith(f"; decision {vote['index']} is a vote")
    assert json.loads(example).keys() == vote["decision"].keys()
    forked = branched(parent, vote["index"], instead=example)  # the example is legal
    assert history(forked)["fork"]["instead"] == json.loads(example)


def test_a_player_may_have_another_model_from_there_on(varied: FakeServer, tmp_path: Path) -> None:
    whole = play(varied.url(), tmp_path, stem="parent")
    branch = history(branched(whole.files, 10, changes=("players.0.model=bot/loyal",)))
    sources = {each["source"] for each in branch["decisions"] if each["player"] == "A" and each["index"] >= 10}
    earlier = {each["source"] for each in branch["decisions"] if each["player"] == "A" and each["index"] < 9}
    assert (sources, earlier) == ({"bot"}, {"model"})
    assert branch["fork"]["changed"] == ["players.0.model=bot/loyal"]


def test_fork_diff_and_report_on_the_command_line(parent: RunFiles) -> None:
    words = ("--logs-dir", ".", "--display", "none", "--no-html")
    forked = agentsim("fork", "parent", "--at", "2", "--branches", "4", "--json", *words, cwd=parent.directory)
    assert forked.code == 0, forked.err
    names = [json.loads(line)["name"] for line in forked.out.splitlines()]
    assert names == [f"parent_at2_b{number}" for number in (1, 2, 3, 4)]
    assert agentsim("fork", "parent", "--at", "2", "--name", "twin", *words, cwd=parent.directory).code == 0
    same = agentsim("diff", "parent", "twin", "--logs-dir", ".", cwd=parent.directory)
    assert same.out == "parent and twin: the same decisions, events and outcome\n"
    found = [
        json.loads(agentsim("diff", "parent", name, "--logs-dir", ".", "--json", cwd=parent.directory).out)
        for name in names
    ]
    parted = next(each for each in found if not each["same"])
    assert parted["decision"]["number"] > 2, "the past is the same"
    assert parted["decision"]["one"] != parted["decision"]["other"]
    report = json.loads(agentsim("report", ".", "--json", cwd=parent.directory).out)
    assert report["games"] == 1, "branches are no games of their own"
    assert (report["arms"], "branches" in report) == ([], False), "the parent is no control of its branches"
    said = agentsim("report", ".", cwd=parent.directory)
    assert "branches are in no figure: `agentsim fork --arm` plays a control beside them" in said.line


def test_the_same_fork_again_numbers_its_branches_on(parent: RunFiles) -> None:
    """Copies of existing branches would count as new evidence; other arms begin at 1, with the same luck."""
    words = ("fork", "parent", "--logs-dir", ".", "--display", "none", "--no-html", "--json")

    def numbers(*more: str) -> list[tuple[str, int]]:
        said = agentsim(*words, *more, cwd=parent.directory)
        assert said.code == 0, said.err
        names = [json.loads(line)["name"] for line in said.out.splitlines()]
        return [(name, history(RunFiles(parent.directory, name))["fork"]["branch"]) for name in names]

    assert numbers("--at", "2", "--branches", "2") == [("parent_at2_b1", 1), ("parent_at2_b2", 2)]
    assert numbers("--at", "2", "--branches", "2") == [("parent_at2_b3", 3), ("parent_at2_b4", 4)]
    assert numbers("--at", "2", "--branches", "1", "--name", "more") == [("more_b5", 5)]
    changed = numbers("--at", "2", "--branches", "1", "--set", "players.0.model=bot/loyal", "--name", "loyal")
    assert changed == [("loyal_b1", 1)]
    salts = {
        tuple(map(tuple, history(RunFiles(parent.directory, name))["fork"]["salts"]))
        for name in ("parent_at2_b1", "parent_at2_b2", "parent_at2_b3", "parent_at2_b4", "more_b5")
    }
    assert len(salts) == 5


def test_branches_made_at_once_by_several_have_each_a_number_of_its_own(parent: RunFiles) -> None:
    cut = ForkPoint.of(parent, 4)
    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda _: branch_of(cut, of_several=True), range(12)))
    assert sorted(session.journal.contents.head["fork"]["branch"] for session in made) == list(range(1, 13))
    assert sorted(session.files.name for session in made) == sorted(f"parent_at4_b{number}" for number in range(1, 13))


def test_a_killed_fork_leaves_no_branch_with_half_a_past(parent: RunFiles) -> None:
    """Otherwise `resume` would ask models again for the other half: another past, paid for twice."""
    at = len(history(parent)["decisions"])
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EACH_WRITE, str(at)], cwd=parent.directory, check=True, capture_output=True
    )
    assert int(done.stdout) > 1, "it was killed at some write"
    made = [path for path in parent.directory.glob("branch*.jsonl") if path.read_bytes()]
    assert made, "the last of them was left alone"
    for path in made:
        assert len(read_journal(path).decisions) == at - 1, path.name


KILLED_AT_EACH_WRITE = """
import os, signal, sys
from pathlib import Path
from agentsim.records.run_files import RunFiles
from agentsim.runs.fork import ForkPoint
from agentsim.runs.run import RunOptions

def dying(left, write=os.write):
    def written(handle, data):
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return write(handle, data)
    return written

parent = ForkPoint.of(RunFiles(Path(), "parent"), int(sys.argv[1]))
for moment in range(1, 1_000):
    child = os.fork()
    if not child:
        os.write = dying(moment)
        parent.branch(RunOptions({}), name=f"branch{moment}")
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        print(moment)
        break
"""


def test_a_fork_for_which_the_disk_has_no_room_leaves_nothing(
    parent: RunFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(parent.directory)
    writes = [os.write, os.write]

    def write(handle: int, data: bytes) -> int:
        if not writes:
            raise OSError(errno.ENOSPC, "No space left on device")
        return writes.pop()(handle, data)

    monkeypatch.setattr("agentsim.records.journal.os.write", write)
    with pytest.raises(AgentsimError, match="No space left"):
        branch_of(ForkPoint.of(parent, 5))
    assert snapshot(parent.directory) == before


def test_a_report_counts_copies_once_and_says_so(parent: RunFiles) -> None:
    """Bots with the same luck repeat themselves: a second fork without a number, and pairs, equal the first one."""
    words = ("--logs-dir", ".", "--display", "none", "--no-html")
    for more in ((), ("--name", "again"), ("--branches", "2"), ("--branches", "2", "--paired", "--name", "paired")):
        assert agentsim("fork", "parent", "--at", "2", *more, *words, cwd=parent.directory).code == 0
    twin = play_scenario(load(parent.directory / "trio.toml"), parent.directory, env={}, stem="twin").files
    branched(twin, 2, number=9)
    said = agentsim("report", ".", cwd=parent.directory)
    report = json.loads(agentsim("report", ".", "--json", cwd=parent.directory).out)
    copies = {"parent_at2": "again", "paired_b3": "again", "paired_b4": "again", "twin": "parent"}
    assert report["copies"] == copies
    assert report["games"] == 1, "the twin's branch has a parent here: the first of the two"
    assert len(read_games(parent.directory).games) == 5, "the parent; a branch with its luck, three with others"
    assert "4 games of bots repeat other games and count once" in said.err


def test_branches_without_their_parent_are_games_and_said_to_share_a_past(parent: RunFiles) -> None:
    for number in (1, 2):
        branched(parent, 2, number=number)
    parent.history.unlink()
    said = agentsim("report", ".", cwd=parent.directory)
    assert "2 games are branches of 1 run that is not here (parent): they share their first decisions" in said.line


def test_branches_of_models_are_no_copies_of_each_other(varied: FakeServer, tmp_path: Path) -> None:
    whole = play(varied.url(), tmp_path, stem="parent")
    for name in ("one", "other"):
        branched(whole.files, 10, stem=name)
    assert not read_games(tmp_path).copies


def test_a_difference_of_models_is_said_where_nothing_else_differs_and_on_one_line(parent: RunFiles) -> None:
    text = parent.history.read_text("utf-8")
    other = parent.directory / "other.json"
    other.write_text(text.replace('"model":"bot/grudge"', '"model":"x\\nagentsim: forged"'), encoding="utf-8")
    assert text != other.read_text("utf-8")
    said = agentsim("diff", str(parent.history), str(other), cwd=parent.directory)
    first, last = said.out.splitlines()
    assert "bot/grudge in " in first
    assert "x agentsim: forged in " in first
    assert last.endswith("the same decisions, events and outcome")


def test_runs_that_call_each_other_their_parent_are_games_of_their_own(parent: RunFiles) -> None:
    record = game_record("a", load_history(parent.history))
    assert record is not None
    games = [replace(record, name=name, parent=of) for name, of in (("a", "a"), ("b", "c"), ("c", "b"), ("d", "c"))]
    assert [game.name for game in without_branches(games)] == ["a", "b", "c"]


def test_a_journal_with_a_decision_that_is_none_in_its_head_is_refused(parent: RunFiles) -> None:
    files = branched(parent, 2)
    change_line(files.journal, '"record":"run"', lambda head: head["fork"].update(instead=[1, 2]))
    with pytest.raises(AgentsimError, match="instead"):
        prove(files)


@pytest.mark.parametrize("whose", ["decision", "standing"])
def test_a_history_that_tells_of_somebody_who_does_not_play_is_none(parent: RunFiles, whose: str) -> None:
    found = json.loads(parent.history.read_text("utf-8"))
    (found["decisions"] if whose == "decision" else found["outcome"]["standings"])[0]["player"] = "zz"
    parent.history.write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(UsageError, match="'zz' is not one of its players"):
        load_history(parent.history)


def test_diff_says_what_followed_in_words_with_the_scores_that_differ(parent: RunFiles) -> None:
    history = load_history(parent.history)
    assert history.outcome is not None
    place = history.outcome.standings[0]
    name, score = next(iter(place.score.items()))
    raw = json.loads(parent.history.read_text("utf-8"))
    raw["outcome"]["standings"][0]["score"][name] = 99
    raw["decisions"][0]["decision"] = {"text": "Another word."}
    (parent.directory / "other.json").write_text(json.dumps(raw), encoding="utf-8")
    said = agentsim("diff", "parent", "other", "--logs-dir", ".", cwd=parent.directory).out.splitlines()
    made = history.decisions[0]
    assert f'  other: {made.player} ({made.kind}): {{"text": "Another word."}}' in said
    words = name.replace("_", " ")
    assert said[-2:] == ["scores that differ:", f"  {place.player}: {words} {score} in parent, 99 in other"]
