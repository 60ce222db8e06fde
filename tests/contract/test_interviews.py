"""Interviews of runs of every game, in it and later: its decisions, events and outcome are those of the game alone."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentsim.models.base import Call, Sampling
from agentsim.records.history import History
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.runs.fork import ForkPoint
from agentsim.runs.interview import InterviewPlan, InterviewResult, RunInterview
from agentsim.runs.replay import prove
from agentsim.runs.run import RunOptions, RunResult
from tests.amounts import amounts
from tests.contract.harness import FEW, GAMES, spaced, tiny
from tests.contract.test_runs import TEXT, text_without_volatile
from tests.fakes.replies import varied_by_schema
from tests.playing import play_scenario, resume_run


class Echo:
    """A model whose replies depend on the prompt alone, and come in another order than they were asked for."""

    def __init__(self) -> None:
        self.calls = 0

    async def complete(self, call: Call, sampling: Sampling, /) -> str:
        self.calls += 1
        schema = {"json_schema": {"schema": call.schema}} if call.schema else {}
        body = {"messages": call.messages, "response_format": schema}
        for _ in range(hashlib.sha256(repr(call.messages).encode()).digest()[0] % 5):
            await asyncio.sleep(0)
        return varied_by_schema(body)


ECHO = Echo()
OWN = {"echo": ECHO}


def play(name: str, logs: Path, stem: str, concurrency: int, *overrides: str) -> RunResult:
    limits = f"limits.concurrency={concurrency}"
    return play_scenario(tiny(name, 'defaults.model="python:echo"', limits, *overrides), logs, own=OWN, stem=stem)


@dataclass(frozen=True)
class Played:
    """A game without interviews, and with them at concurrency 1 and 8."""

    name: str
    plain: RunResult
    alone: RunResult
    held: RunResult


@pytest.fixture(
    scope="module", params=[pytest.param(game, marks=[pytest.mark.slow] * (game not in FEW)) for game in GAMES]
)
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    name: str = request.param
    logs = tmp_path_factory.mktemp(name)
    plain = play(name, logs, "plain", 8)
    assert plain.status == "completed", plain.error
    kinds = [each.kind for each in plain.typed_history.decisions if not each.player.startswith("@")]
    around = f"before = '{kinds[0]}', after = '{kinds[-1]}', battery = ['trust']"
    interviews = f"interviews=[{{every = 1, at_end = true, battery = ['who_wins']}}, {{{around}}}]"
    alone, held = (play(name, logs, f"c{level}", level, interviews) for level in (1, 8))
    return Played(name, plain, alone, held)


def of_the_game(history: History) -> dict[str, Any]:
    """Return all of a game that interviews must not change: numbers of decisions and waves shift."""
    decisions = [
        (each.player, each.kind, each.round, each.source, each.decision, [said.messages for said in each.attempts])
        for each in history.decisions
        if each.survey is None
    ]
    events = [(part.index, each.kind, each.visibility, each.content) for part in history.rounds for each in part.events]
    return {"decisions": decisions, "events": events, "outcome": history.outcome}


def decision_numbers(history: History) -> list[int]:
    """Return the numbers of the decisions of the game."""
    return [each.index for each in history.decisions if each.survey is None]


def interviewed(files: RunFiles, plan: InterviewPlan) -> InterviewResult:
    return RunInterview(files, plan, RunOptions({}, own=OWN)).play_sync()


def answered(result: InterviewResult) -> list[Any]:
    """Return who said what in an interview, and to which messages, in the order of its questions."""
    decisions = sorted(result.interview.decisions, key=lambda each: each.index)
    return [(each.player, each.decision, [attempt.messages for attempt in each.attempts]) for each in decisions]


def test_a_game_with_interviews_is_the_game_without_at_any_concurrency(played: Played) -> None:
    assert text_without_volatile(played.alone.files) == text_without_volatile(played.held.files)
    plain, held = (load_history(each.files.history) for each in (played.plain, played.held))
    assert len(held.decisions) > len(plain.decisions), "nothing was asked: this proved nothing"
    assert of_the_game(held) == of_the_game(plain)
    assert prove(played.held.files).complete


@amounts("several", False, True)
def test_it_is_still_when_the_run_is_resumed_at_any_line(played: Played, several: bool, tmp_path: Path) -> None:
    """Resume the run at one line of its middle, or at one in three of all its lines."""
    lines = played.held.files.journal.read_bytes().splitlines(keepends=True)
    places = [place for place in range(1, len(lines)) if not lines[place - 1].startswith(TEXT)]
    wanted = text_without_volatile(played.held.files)
    for cut in places[:: spaced(played.name, 3)] if several else places[len(places) // 2 :][:1]:
        files = RunFiles(tmp_path, f"cut{cut}")
        files.journal.write_bytes(b"".join(lines[:cut]))
        assert resume_run(files, own=OWN).status == "completed"
        assert text_without_volatile(files) == wanted


@pytest.mark.parametrize("paired", [pytest.param(True, marks=pytest.mark.slow), False], ids=["paired", "alone"])
def test_a_fork_with_interviews_is_the_fork_without(played: Played, paired: bool) -> None:
    histories = [load_history(each.files.history) for each in (played.plain, played.held)]
    nth = len(decision_numbers(histories[0])) // 2
    branches = []
    for run, history in zip((played.plain, played.held), histories, strict=True):
        point = ForkPoint.of(run.files, decision_numbers(history)[nth])
        name = f"{run.files.name}_{paired}"
        branches.append(point.branch(RunOptions({}, own=OWN), number=1, paired=paired, name=name).play_sync())
    plain, held = (load_history(each.files.history) for each in branches)
    assert of_the_game(held) == of_the_game(plain)
    assert (of_the_game(plain)["decisions"] == of_the_game(histories[0])["decisions"]) or not paired
    assert prove(branches[1].files).complete


@amounts("every", False, True)
def test_a_later_interview_changes_no_file_of_the_run_and_goes_on_from_any_line(played: Played, every: bool) -> None:
    numbers = decision_numbers(load_history(played.held.files.history))
    plan = InterviewPlan(batteries=("trust",), at=(numbers[len(numbers) // 2], None), label=f"later{every}")
    answers = []
    for run in (played.alone, played.held) if every else (played.held,):
        before = {path: path.read_bytes() for path in (run.files.journal, run.files.history)}
        found = interviewed(run.files, plan)
        assert (found.error, bool(found.interview.decisions)) == (None, True)
        answers.append(answered(found))
        assert {path: path.read_bytes() for path in before} == before
        assert prove(run.files).complete
    assert answers[0] == answers[-1], "at concurrency 1 and 8"
    lines = found.path.read_bytes().splitlines(keepends=True)
    cuts = range(1, len(lines)) if every else (len(lines) // 2,)
    for cut in cuts:
        found.path.write_bytes(b"".join(lines[:cut]))
        made, paid = ECHO.calls, sum(b'"record":"decision"' in line for line in lines[:cut])
        again = interviewed(played.held.files, plan)
        assert answered(again) == answers[-1]
        assert ECHO.calls - made == len(again.interview.decisions) - paid, "an answer that was on disk was asked again"
