"""Replay proves a history from its journal, names the first difference, and can follow a running game."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.event import LoggedEvent
from agentsim.errors import AgentsimError, JournalCorrupt, JournalError, JournalMismatch, ScenarioError, UsageError
from agentsim.records.bundle import pack
from agentsim.records.journal import DecisionRecord, Totals
from agentsim.records.run_files import RunFiles, is_running
from agentsim.runs.follower import follow
from agentsim.runs.replay import ReplayDiffers, prove
from agentsim.runs.watcher import Watcher
from agentsim.scenario.load import load
from tests.cli.command_line import agentsim, snapshot, trio
from tests.cli.processes import CommandProcess
from tests.fakes.journals import change_line
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import play_scenario, resume_run
from tests.runs.island import FOUR, Mendable, play, resumed, scenario_text

CALLS = 18


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a finished run `run`, and a run `part` that stopped after seven decisions."""
    folder = tmp_path_factory.mktemp("played")
    with FakeServer(varied_by_schema).in_thread() as server:
        assert play(server.url(), folder).status == "completed"
        assert play(server.url(), folder, "limits.max_calls=7", stem="part").status == "stopped_budget"
    return folder


@pytest.fixture
def files(played: Path, tmp_path: Path) -> RunFiles:
    shutil.copytree(played, tmp_path, dirs_exist_ok=True)
    return RunFiles(tmp_path, "run")


def change_history(files: RunFiles, change: Callable[[Any], None]) -> None:
    history = json.loads(files.history.read_text(encoding="utf-8"))
    change(history)
    files.history.write_text(json.dumps(history), encoding="utf-8")


def test_a_whole_run_is_proved_to_its_end_and_nothing_is_written(files: RunFiles) -> None:
    before = {path: path.read_bytes() for path in files.directory.iterdir()}
    proof = prove(files)
    assert (proof.decisions, proof.complete) == (CALLS, True)
    assert proof.history == json.loads(files.history.read_text(encoding="utf-8"))
    assert {path: path.read_bytes() for path in files.directory.iterdir()} == before


def test_a_stopped_run_is_proved_as_far_as_it_went(files: RunFiles) -> None:
    proof = prove(RunFiles(files.directory, "part"))
    assert (proof.decisions, proof.complete) == (7, False)
    assert proof.history["status"] == "stopped_budget"
    assert proof.history["outcome"] is None


def test_what_differs_between_executions_proves_nothing_and_may_differ(files: RunFiles) -> None:
    change_line(files.journal, '"record":"stop"', None)  # it names the history that was written
    change_history(files, lambda history: history["volatile"].update(wall_s=99.0, name="another"))
    assert prove(files).complete


def put(*path: str | int, value: Any) -> Callable[[Any], None]:
    def change(history: Any) -> None:
        for step in path[:-1]:
            history = history[step]
        history[path[-1]] = value

    return change


CHANGES = [
    pytest.param(put("seed", value=6), "seed: 6 in the history, 5 in the replay", id="seed"),
    pytest.param(put("status", value="degraded"), 'status: "degraded" in the history, "completed"', id="other end"),
    pytest.param(put("status", value="failed"), 'status: "failed" in the history, "completed"', id="no end"),
    pytest.param(put("usage", "calls", value=17), "usage.calls: 17 in the history, 18 in the replay", id="usage"),
    pytest.param(
        put("usage", "by_player", "B", "prompt_tokens", value=-1), "usage.by_player.B.prompt_tokens: -1", id="tokens"
    ),
    pytest.param(put("outcome", "winner", value="Z"), 'outcome.winner: "Z" in the history', id="winner"),
    pytest.param(
        put("outcome", "standings", 0, "score", "rounds_survived", value=99),
        "outcome.standings.0.score.rounds_survived: 99 in the history",
        id="score",
    ),
    pytest.param(put("rounds", 1, "events", 2, "seq", value=1000), "rounds.1.events.2.seq: 1000", id="event"),
    pytest.param(put("rounds", 1, "events", 0, "visibility", value=["A"]), "rounds.1.events.0.visibility", id="seen"),
    pytest.param(
        put("decisions", 3, "attempts", 0, "completion", "text", value=0),
        "decisions.3.attempts.0.completion.text: 0",
        id="reply",
    ),
    pytest.param(put("texts", 0, value="Other rules."), 'texts.0: "Other rules." in the history', id="text"),
    pytest.param(put("usage", "fallbacks", value=False), "usage.fallbacks: false in the history, 0", id="0 and false"),
    pytest.param(put("usage", "calls", value=18.0), "usage.calls: 18.0 in the history, 18 in", id="18 and 18.0"),
    pytest.param(put("rounds", value=5), "rounds: 5 in the history", id="no list"),
    pytest.param(lambda history: history["rounds"].pop(), "rounds: 3 in the history, 4 in the replay", id="rounds"),
    pytest.param(lambda history: history.pop("usage"), "usage: nothing in the history", id="a key less"),
    pytest.param(put("more", value=1), "more: 1 in the history, nothing in the replay", id="a key more"),
    pytest.param(
        lambda history: history.update(seed=history.pop("seed")), "the file: the order of keys differs", id="order"
    ),
]


@pytest.mark.parametrize(("change", "found"), CHANGES)
def test_a_changed_history_is_found_and_the_place_named(
    files: RunFiles, change: Callable[[Any], None], found: str
) -> None:
    change_history(files, change)
    with pytest.raises(ReplayDiffers) as caught:
        prove(files)
    assert str(caught.value).startswith(f"run: {found}")


def test_a_stopped_run_cannot_be_passed_off_as_finished(files: RunFiles) -> None:
    part = RunFiles(files.directory, "part")
    change_history(part, put("status", value="completed"))
    with pytest.raises(ReplayDiffers, match='status: "completed" in the history, "interrupted" in the replay'):
        prove(part)


def _other_vote(line: dict[str, Any]) -> None:
    line["decision"]["vote"] = None


def _other_words(line: dict[str, Any]) -> None:
    line["decision"]["text"] = "I never said this."


@pytest.mark.parametrize(
    ("which", "change"),
    [('"kind":"vote"', _other_vote), ('"index":2,', _other_words)],
    ids=["a vote", "words"],
)
def test_a_changed_decision_leads_to_another_history(
    files: RunFiles, which: str, change: Callable[[dict[str, Any]], None]
) -> None:
    change_line(files.journal, which, change)
    with pytest.raises((ReplayDiffers, JournalMismatch)):
        prove(files)


MISMATCHES = [
    pytest.param('"index":3,', lambda line: line.update(kind="speech"), "decision 3 .* answers speech of", id="kind"),
    pytest.param('"index":3,', lambda line: line.update(player="Z"), "decision 3 .* answers pitch of Z", id="player"),
    pytest.param('"index":3,', lambda line: line.update(fingerprint="0" * 16), "decision 3 .*0000", id="fingerprint"),
    pytest.param('"index":3,', lambda line: line.update(index=4), "decision 3 ", id="index"),
    pytest.param('"kind":"vote"', lambda line: line["decision"].update(vote="Z"), "vote must be one of", id="illegal"),
    pytest.param('"index":3,', lambda line: line.update(decision={}), "3: what is recorded is no answer", id="none"),
    pytest.param('"record":"run"', lambda line: line.update(seed="x"), "does not describe a run", id="seed"),
]


@pytest.mark.parametrize(("which", "change", "says"), MISMATCHES)
def test_a_journal_that_is_not_of_this_game_is_refused(
    files: RunFiles, which: str, change: Callable[[dict[str, Any]], None], says: str
) -> None:
    change_line(files.journal, which, change)
    with pytest.raises(JournalMismatch, match=says) as caught:
        prove(files)
    assert caught.value.exit_code == 2


def test_a_missing_decision_is_noticed(files: RunFiles) -> None:
    change_line(files.journal, '"index":3,', None)
    with pytest.raises(ReplayDiffers, match=r"the journal has 17 decisions, 2 were asked"):
        prove(files)


def test_decisions_behind_the_end_of_the_game_are_noticed(files: RunFiles) -> None:
    change_line(files.journal, '"index":18,', lambda line: line.update(wave=99))
    with pytest.raises(ReplayDiffers, match="18 decisions, 17 were asked"):
        prove(files)


def test_an_unknown_game_is_refused(files: RunFiles) -> None:
    change_line(files.journal, '"record":"run"', lambda line: line["scenario"].update(game="nosuch"))
    with pytest.raises(ScenarioError, match="nosuch"):
        prove(files)


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"null", b'"x"', b"{}", b"{", b"[" * 100_000, b"\xff\xfe"], ids=lambda text: str(text[:8])
)
def test_a_file_that_is_no_history_is_an_error_of_one_line(files: RunFiles, text: bytes) -> None:
    files.history.write_bytes(text)
    with pytest.raises(JournalError, match=r"^run\.json: is not a history$"):
        prove(files)


def test_a_run_without_history_says_how_to_get_one(files: RunFiles) -> None:
    files.history.unlink()
    with pytest.raises(JournalError, match="no history to prove; `agentsim resume` ends the run"):
        prove(files)


def test_a_corrupt_journal_is_refused_by_line(files: RunFiles) -> None:
    lines = files.journal.read_bytes().splitlines(keepends=True)
    files.journal.write_bytes(b"".join([*lines[:4], b"{]\n", *lines[4:]]))
    with pytest.raises(JournalCorrupt, match=r"^line 5: "):
        prove(files)


def test_every_error_is_one_of_ours(files: RunFiles) -> None:
    """If any one line of the journal is missing, the error is one line and no crash."""
    whole = files.journal.read_text(encoding="utf-8").splitlines(keepends=True)
    for index in range(len(whole)):
        files.journal.write_text("".join(whole[:index] + whole[index + 1 :]), encoding="utf-8")
        if '"record":"stop"' in whole[index]:
            assert prove(files).complete
        else:
            with pytest.raises(AgentsimError) as caught:
                prove(files)
            assert "\n" not in str(caught.value)


def _said_by_another(files: RunFiles) -> Callable[[dict[str, Any]], None]:
    """Return a change that replaces a reply by that of the last vote."""
    votes = [json.loads(line) for line in files.journal.read_bytes().splitlines() if b'"kind":"vote"' in line]
    reply = votes[-1]["attempts"][-1]["completion"]["text"]

    def change(line: dict[str, Any]) -> None:
        assert line["attempts"][-1]["completion"]["text"] != reply
        line["attempts"][-1]["completion"]["text"] = reply

    return change


LIES: list[Any] = [
    pytest.param(lambda _: lambda line: line["decision"].update(explanation="Other."), id="the decision"),
    pytest.param(_said_by_another, id="the reply"),
    pytest.param(lambda _: lambda line: line["parse"].update(stage="tag"), id="how it was read"),
    pytest.param(lambda _: lambda line: line.update(parse=None), id="that it was read"),
    pytest.param(lambda _: lambda line: line.update(attempts=[]), id="that there was a reply"),
    pytest.param(lambda _: lambda line: line.update(source="fallback"), id="where it came from"),
]


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("stem", ["run", "part"])
def test_a_decision_that_is_not_what_its_reply_says_is_refused_though_every_digest_fits(
    files: RunFiles, lie: Callable[[RunFiles], Callable[[dict[str, Any]], None]], stem: str
) -> None:
    files = RunFiles(files.directory, stem)
    change_line(files.journal, '"kind":"vote"', lie(RunFiles(files.directory, "run")))
    before = files.journal.read_bytes()
    for use in (prove, lambda files: resume_run(files, env={}, max_calls=99) if stem == "part" else prove(files)):
        with pytest.raises(JournalError):
            use(files)
    assert files.journal.read_bytes() == before


def test_a_changed_byte_of_a_vote_is_refused_by_resume_and_by_replay(files: RunFiles) -> None:
    part = RunFiles(files.directory, "part")
    whole = part.journal.read_bytes()
    at = whole.index(b'"decision":{', whole.index(b'"kind":"vote"')) + len(b'"decision":{"reasoning":"')
    part.journal.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    line = whole.count(b"\n", 0, at) + 1
    for use in (prove, lambda files: resume_run(files, env={}, max_calls=99)):
        with pytest.raises(JournalCorrupt, match=f"^line {line}: part.jsonl: was changed"):
            use(part)


def _twice(text: str) -> str:
    return text.replace('"status":"completed"', '"status":"failed","status":"completed"')


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_twice, "is not a history"),
        (lambda text: text.replace('"wall_s":', '"wall_s":1'), "`volatile`, or its spelling, is not what was written"),
        (lambda text: text + "\n", "`volatile`, or its spelling, is not what was written"),
    ],
    ids=["a key twice", "the time", "a blank line"],
)
def test_every_change_of_a_history_shows(files: RunFiles, change: Callable[[str], str], says: str) -> None:
    text = files.history.read_text("utf-8")
    assert change(text) != text
    files.history.write_text(change(text), encoding="utf-8")
    with pytest.raises(AgentsimError, match=says):
        prove(files)


def test_warnings_that_were_taken_out_are_missed(tmp_path: Path) -> None:
    with Mendable(lambda _: "<think>").in_thread() as server:
        files = play(server.url(), tmp_path).files
    changed = json.loads(files.history.read_text("utf-8"))
    assert changed.pop("warnings")
    files.history.write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(ReplayDiffers, match="warnings: nothing in the history"):
        prove(files)


def test_a_changed_history_of_a_finished_run_is_made_again_by_resume_and_not_bundled(files: RunFiles) -> None:
    text = files.history.read_text("utf-8")
    files.history.write_text(text.replace('"wall_s":', '"wall_s":1'), encoding="utf-8")
    with pytest.raises(UsageError, match="is not the one that its journal names"):
        pack([files], files.directory / "one.zip")
    again = resumed(files)
    assert again.remark == "run.json is not what was written: it is made again from the journal"
    assert files.history.read_text("utf-8") == text
    assert prove(files).complete


def test_a_session_whose_last_line_is_missing_leaves_a_history_that_is_proved_by_its_values(files: RunFiles) -> None:
    """On a full disk, the history of the last session is written, but not the journal's line on it."""
    part = RunFiles(files.directory, "part")
    first = part.journal.read_bytes()
    with FakeServer(varied_by_schema).in_thread() as server:
        change_line(part.journal, '"record":"run"', lambda head: head["run"]["base_urls"].update(fake=server.url()))
        first = part.journal.read_bytes()
        resumed(part, max_calls=9)
    lines = part.journal.read_bytes().removeprefix(first).splitlines(keepends=True)
    assert b'"record":"stop"' in lines[-1]
    part.journal.write_bytes(first + b"".join(lines[:-1]))
    assert prove(part).decisions == 9


class Seen(Watcher):
    """A watcher that records the events shown by a display."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.decided_by: list[str] = []
        self.calls = 0

    def told(self, events: Sequence[LoggedEvent]) -> None:
        self.events += [told.event.kind for told in events]

    def decided(self, record: DecisionRecord) -> None:
        self.decided_by.append(record.player)

    def counted(self, totals: Totals) -> None:
        self.calls = totals.calls


def no_wait(_: float) -> None:
    raise AssertionError("a run that is over is not waited for")


def events_of(files: RunFiles) -> list[str]:
    history: dict[str, Any] = json.loads(files.history.read_text("utf-8"))
    return [event["kind"] for part in history["rounds"] for event in part["events"]]


def test_of_a_game_that_is_over_everything_is_shown_and_nothing_touched(tmp_path: Path) -> None:
    files = play_scenario(load(trio(tmp_path)), tmp_path, env={}, stem="one").files
    before, seen = snapshot(tmp_path), Seen()
    assert follow(files, seen, sleep=no_wait) == "completed"
    assert seen.events == events_of(files)
    assert snapshot(tmp_path) == before


def test_of_a_run_that_was_killed_what_it_had_decided_is_shown(tmp_path: Path) -> None:
    files = play_scenario(load(trio(tmp_path)), tmp_path, env={}, stem="one").files
    lines = files.journal.read_bytes().splitlines(keepends=True)
    files.journal.write_bytes(b"".join(lines[:3]) + lines[3][:10])
    seen = Seen()
    assert follow(files, seen, sleep=no_wait) == "interrupted"
    assert len(seen.decided_by) == 2


def test_a_running_game_is_followed_to_its_end(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema, latency_s=0.03).in_thread() as server:
        (tmp_path / "one.toml").write_text(scenario_text(server.url(), FOUR), "utf-8")
        words = ("run", "--config", "one.toml", "--name", "one", "--display", "none", "--no-html")
        process = CommandProcess(*words, cwd=tmp_path)
        files = RunFiles(tmp_path / "logs", "one")
        while not (files.journal.exists() and is_running(files.journal)):
            assert process.poll() is None
        seen, looks = Seen(), [0]

        def look_again(_: float) -> None:
            looks[0] += 1

        assert follow(files, seen, sleep=look_again) == "completed"
        assert process.wait(30) == 0
    assert looks[0] > 0, "it was watched while it ran"
    assert seen.events == events_of(files)
    assert seen.calls == len(seen.decided_by) == 18


def test_what_cannot_be_followed_is_said(tmp_path: Path) -> None:
    files = RunFiles(tmp_path, "empty")
    files.journal.write_bytes(b'{"record": ')
    with pytest.raises(JournalError, match="before its journal began"):
        follow(files, Watcher(), sleep=no_wait)
    files.journal.write_bytes(b"{}\n")
    with pytest.raises(JournalCorrupt, match="line 1"):
        follow(files, Watcher(), sleep=no_wait)


def test_watch_shows_what_everybody_hears_and_how_it_ended(tmp_path: Path) -> None:
    play_scenario(load(trio(tmp_path)), tmp_path / "logs", env={}, stem="one")
    said = agentsim("watch", "one", "--display", "plain", cwd=tmp_path)
    assert (said.code, said.out) == (0, "one: completed\n")
    assert "Round 1 begins" in said.err
    assert "votes for" not in said.err, "votes are secret"
