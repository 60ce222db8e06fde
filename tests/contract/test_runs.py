"""Real runs of every game: the same history at any concurrency, after a cut at any place, and in replay."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from agentsim import games
from agentsim.engine.panel import Chart
from agentsim.errors import DecisionError
from agentsim.models.base import Attempt
from agentsim.records.events import compute_from_log, told_events
from agentsim.records.history import FINISHED, KEYS, History
from agentsim.records.journal import Journal, JournalContents, read_journal
from agentsim.records.run_files import RunFiles
from agentsim.report.player_view import as_seen_by
from agentsim.runs.replay import prove, without_volatile
from agentsim.runs.run import RunResult
from tests.amounts import amounts, some_of
from tests.contract.harness import FEW, GAMES, on_bots, on_server, some_bot, spaced, tiny
from tests.fakes.journals import resealed
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Raw
from tests.playing import resume_run

pytestmark = some_of("name", GAMES, *FEW)
TEXT = b'{"record":"texts"'


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer(varied_by_schema).in_thread() as fake:
        yield fake


@pytest.fixture(scope="module")
def uneven() -> Iterator[FakeServer]:
    """Serve answers after 0 to 15 ms, by the request's digits, so that replies of one wave overtake each other."""
    with FakeServer(varied_by_schema, latency_s=lambda body: (hash_of(body) % 16) / 1000).in_thread() as fake:
        yield fake


def hash_of(body: Any) -> int:
    return sum(json.dumps(body, sort_keys=True).encode()) % 997


@pytest.fixture(scope="module")
def lives(server: FakeServer, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], RunResult]:
    """Return a function from a game to its run on `server`, played once; tests must not change its files."""
    return cache(lambda name: on_server(name, server.url(), tmp_path_factory.mktemp("live")))


@pytest.fixture
def live(name: str, lives: Callable[[str], RunResult]) -> RunResult:
    return lives(name)


def stable(files: RunFiles) -> dict[str, Any]:
    return without_volatile(json.loads(files.history.read_text(encoding="utf-8")))


def text_without_volatile(files: RunFiles) -> str:
    head, _, _ = files.history.read_text(encoding="utf-8").partition('"volatile":')
    return head


@amounts("levels", (1, 50), (1, 2, 3, 5, 16, 50))
def test_any_concurrency_gives_the_same_history(
    name: str, uneven: FakeServer, tmp_path: Path, levels: Sequence[int]
) -> None:
    texts = set()
    for concurrency in levels:
        result = on_server(name, uneven.url(), tmp_path, f"limits.concurrency={concurrency}", stem=f"c{concurrency}")
        assert result.status == "completed", result.error
        texts.add(text_without_volatile(result.files))
    assert len(texts) == 1
    assert uneven.most_in_flight > 1, "nothing ever ran at the same time: this proved nothing"


UNUSABLE = "I would rather not say {"
QUICK = ("defaults.retry_wait_s=0.0", "defaults.rate_limit_wait_s=0.0")


def unwell(body: Any, add_salt: int = 0) -> str | Raw:
    """Answer by the request's digits with a failure, an unusable reply or a good one, always the same."""
    match (hash_of(body) if not add_salt else hash_of([body, add_salt])) % 9:
        case 0:
            return Raw(503, "busy", content_type="text/plain")
        case 1:
            return UNUSABLE
        case _:
            return varied_by_schema(body)


@amounts("others", (50,), (2, 5, 50))
def test_any_concurrency_gives_the_same_history_with_faults_too(
    name: str, others: Sequence[int], tmp_path: Path
) -> None:
    """Retries, re-asks and fallbacks are counted by request; the order of replies has no effect."""
    with FakeServer(latency_s=lambda body: (hash_of(body) % 16) / 1000).in_thread() as server:

        def play(concurrency: int) -> RunResult:
            settings = (f"limits.concurrency={concurrency}", "limits.max_fallback_rate=1", *QUICK)
            return on_server(name, server.url(), tmp_path, *settings, stem=f"s{add_salt}c{concurrency}")

        for add_salt in range(20):  # a game this short may not meet every kind of fault
            server.reply = partial(unwell, add_salt=add_salt)
            first = play(1)
            usage = first.history["usage"]
            if first.status == "stopped_provider":
                continue  # a longer game may have so many failures in a row that the provider counts as failed
            assert first.status == "completed", first.error
            reasks = usage["reasks"] if refuses(name) else 1
            if min(usage["failed_calls"], reasks, usage["fallbacks"]) > 0:
                break
        else:
            pytest.fail("nothing went wrong: this proved nothing")
        wanted = text_without_volatile(first.files)
        assert all(text_without_volatile(play(concurrency).files) == wanted for concurrency in others)


def refuses(name: str) -> bool:
    """Return whether a game re-asks after a reply of `unwell`; some games accept any reply, or forfeit at once."""
    request = on_bots(name, some_bot(games.find(name))).asks()[0].request
    try:
        request.parse(UNUSABLE)
    except DecisionError:
        return not request.is_forfeit(UNUSABLE)
    return False


@amounts("one_of", 20, 1)
def test_resume_after_every_attempt_equals_live_with_faults_too(name: str, one_of: int, tmp_path: Path) -> None:
    """A failed call, a paid bad reply and a decision are each on disk before the next step."""
    once: set[str] = set()  # requests that have failed once; they succeed from then on

    def passing(body: Any) -> str | Raw:
        text = json.dumps(body, sort_keys=True)
        if hash_of(body) % 3 == 0 and text not in once:
            once.add(text)
            return Raw(503, "busy", content_type="text/plain")
        return unwell(body) if hash_of(body) % 9 else varied_by_schema(body)

    with FakeServer(passing).in_thread() as server:
        live = on_server(name, server.url(), tmp_path / "live", *QUICK)
        assert live.status in (FINISHED if name == "monopoly" else {"completed"}), live.error
        assert live.history["usage"]["failed_calls"] > 2
        wanted = text_without_volatile(live.files)
        lines = live.files.journal.read_bytes().splitlines(keepends=True)
        files = RunFiles(tmp_path / "cut", "cut")
        files.directory.mkdir()
        cuts = [index for index, line in enumerate(lines, start=1) if not line.startswith(TEXT)][:-1]
        step = spaced(name, one_of)
        for cut in cuts[step // 2 :: step]:
            files.journal.write_bytes(b"".join(lines[:cut]))
            files.history.unlink(missing_ok=True)
            before, sent = len(server.received), _sent(read_journal(files.journal))
            once.clear()
            once.update(json.dumps(body.body, sort_keys=True) for body in server.received if _words(body.body) in sent)
            resumed = resume_run(files, env={})
            assert resumed is not None
            assert text_without_volatile(files) == wanted
            assert len(server.received) - before == live.history["usage"]["calls"] - _made(files, cut, lines)


def _words(body: Any) -> str:
    return json.dumps([[message["role"], message["content"]] for message in body["messages"]])


def _sent(recorded: JournalContents) -> set[str]:
    """Return the messages of every attempt that is on disk."""
    return {json.dumps([[message.role, message.text] for message in attempt.messages]) for attempt in _calls(recorded)}


def _calls(recorded: JournalContents) -> list[Attempt]:
    return [attempt for key in {*recorded.decisions, *recorded.attempts} for attempt in recorded.calls(*key)]


def _made(files: RunFiles, cut: int, lines: list[bytes]) -> int:
    files.journal.with_suffix(".part").write_bytes(b"".join(lines[:cut]))
    return len(_calls(read_journal(files.journal.with_suffix(".part"))))


def test_replay_proves_the_live_history(live: RunResult, server: FakeServer) -> None:
    calls = server.completed["ok"]
    proof = prove(live.files)
    assert proof.complete
    assert proof.decisions == len(live.history["decisions"])
    assert server.completed["ok"] == calls, "a replay calls nobody"


@amounts("one_of", 30, 1)
def test_resume_at_every_line_of_the_journal_equals_live(
    name: str, live: RunResult, one_of: int, server: FakeServer, tmp_path: Path
) -> None:
    """The journal is opened at every line, and played on at all lines but those between two text lines.

    Long games are played on at one line in five.
    Among consecutive text lines, the line before the first and the last one are played on: the least and the most that
    the disk can hold at one state of the game. The test below plays on from the lines between them at the tail.
    """
    wanted = text_without_volatile(live.files)
    lines = live.files.journal.read_bytes().splitlines(keepends=True)
    decided = called = 0
    step = spaced(name, one_of)
    for cut in range(1, len(lines)):
        before = server.completed["ok"]
        files = RunFiles(tmp_path / "cut", f"cut{cut}")
        files.directory.mkdir(exist_ok=True)
        files.journal.write_bytes(b"".join(lines[:cut]))
        decided += b'"record":"decision"' in lines[cut - 1]
        called += _holds_a_call(lines[cut - 1])
        if cut % step or all(line.startswith(TEXT) for line in lines[cut - 1 : cut + 1]):
            journal = Journal.reopen(files.journal)
            journal.close()
            assert journal.contents.lines == cut
            assert len(journal.contents.decisions) == decided
            assert files.journal.read_bytes() == b"".join(lines[:cut])
            continue
        resumed = resume_run(files, env={})
        assert resumed is not None
        assert resumed.status == "completed", resumed.error
        assert text_without_volatile(files) == wanted
        repeated = server.completed["ok"] - before
        assert repeated == live.history["usage"]["calls"] - called, "a call that was on disk was made again"
    shutil.rmtree(tmp_path / "cut")


def _holds_a_call(line: bytes) -> bool:
    """Return whether a line of a journal records a call: a line of a bad reply, or a decision with its good reply."""
    record: dict[str, Any] = json.loads(line)
    return "attempt" in record or record.get("source") == "model"


@amounts("one_of", 16, 1)
def test_resume_at_every_byte_of_the_tail_equals_live(live: RunResult, one_of: int, tmp_path: Path) -> None:
    """The journal resumes from the whole lines before any cut in the last decision's lines.

    The journal is opened at every byte; the few different files that this leaves are played on.
    """
    wanted = text_without_volatile(live.files)
    lines = live.files.journal.read_bytes().splitlines(keepends=True)
    decisions = [number for number, line in enumerate(lines) if b'"record":"decision"' in line]
    before, behind = lines[: decisions[-2] + 1], lines[decisions[-2] + 1 :]
    whole = [sum(map(len, lines[: len(before) + more])) for more in range(len(behind) + 1)]
    # Journals are read line by line, so opening the thousands of files needs the lines of text before the tail.
    pointed = [line for line in before if line.startswith(TEXT)]
    short = resealed([lines[0], *pointed, *behind])
    head, tail = b"".join(short[: 1 + len(pointed)]), b"".join(short[1 + len(pointed) :])
    files = RunFiles(tmp_path / "cut", "cut")
    files.directory.mkdir()
    left: set[bytes] = set()
    for size in (size for size in range(len(tail) + 1) if size % one_of == 0 or b"\n" in tail[size - 2 : size + 1]):
        files.journal.write_bytes(head + tail[:size])
        Journal.reopen(files.journal).close()
        kept = files.journal.read_bytes()
        assert kept == head + tail[: tail.rfind(b"\n", 0, size) + 1]
        left.add(kept.removeprefix(head))
    assert len(left) == len(lines) - decisions[-2]
    for size in whole:
        files.journal.write_bytes(live.files.journal.read_bytes()[:size])
        files.history.unlink(missing_ok=True)
        assert resume_run(files, env={}) is not None
        assert text_without_volatile(files) == wanted


def test_a_finished_run_is_left_as_it_is(live: RunResult) -> None:
    before = (live.files.journal.read_bytes(), live.files.history.read_bytes())
    assert resume_run(live.files, env={}).how == "unchanged"
    assert (live.files.journal.read_bytes(), live.files.history.read_bytes()) == before


def test_the_history_fits_its_format_and_its_places_exist(live: RunResult) -> None:
    raw = live.files.history.read_bytes()
    history, texts = History.model_validate_json(raw), json.loads(raw)["texts"]
    used: set[str] = set()
    for decision in history.decisions:
        for attempt in decision.attempts:
            used.update(text for message in attempt.messages for text in message.segments)
            used.update(text for text in (attempt.reply, attempt.reasoning) if text is not None)
    assert used == set(texts), "every text is used, and every place is a text"
    assert len(set(texts)) == len(texts), "every text stands once"
    seqs = [event.seq for part in history.rounds for event in part.events]
    assert seqs == list(range(1, len(seqs) + 1))
    assert [decision.index for decision in history.decisions] == list(range(1, len(history.decisions) + 1))
    assert [part.index for part in history.rounds] == list(range(len(history.rounds)))
    assert all(decision.attempts for decision in history.decisions), "a model is asked for every decision"
    assert history.usage.calls == sum(len(decision.attempts) for decision in history.decisions)
    assert history.usage.calls == len(history.decisions) + history.usage.reasks, "only a bad reply is asked for again"
    keys = list(json.loads(live.files.history.read_text(encoding="utf-8")))
    # only runs with a problem have warnings; the fake server's count of prompt tokens is too low for long prompts
    assert {warning.code for warning in history.warnings} <= {"prompt_cut"}
    absent = {"fork", "asides"} if history.warnings else {"fork", "asides", "warnings"}
    wanted = [name for name in KEYS if name not in absent]
    assert keys == wanted, "the order of keys is part of the format"


def test_the_standings_as_seen_by_a_player_hide_no_score_that_its_page_draws(name: str, live: RunResult) -> None:
    seen = as_seen_by(History.model_validate_json(live.files.history.read_bytes()), tiny(name).players[0].id)
    game = games.find(name)
    log = told_events(seen, game)
    drawn = [compute_from_log(game.overview, log, seen).score_chart, *compute_from_log(game.panels, log, seen)]
    series = {line.name for chart in drawn if isinstance(chart, Chart) for line in chart.series}
    assert seen.outcome is not None
    hidden = {row.player for row in seen.outcome.standings if not row.score}
    assert not {seen.names.get(player, player) for player in hidden} & series


def test_the_page_as_seen_by_a_player_holds_no_secret_of_the_others(name: str, live: RunResult) -> None:
    """The page has no event that the player could not see, and no persona, reply or private text of the others."""
    from agentsim.results import run_in

    history = History.model_validate_json(live.files.history.read_bytes())
    checked = 0
    for player in (plan.id for plan in tiny(name).players):
        everything = {"include_prompts": True, "include_reasoning": True, "include_usage": True}
        path = run_in(live.files).page(live.files.page, as_seen_by=player, **everything)
        page = path.read_text(encoding="utf-8")
        seen = " ".join(
            [
                f"{event.heading} {event.content}"
                for part in history.rounds
                for event in part.events
                if _sees(event.visibility, player)
            ]
        )
        for decision in history.decisions:
            if decision.player == player:
                continue
            for words in said_in(decision.decision):
                if words.startswith("text ") and words not in seen:
                    checked += 1
                    assert words not in page, f"{player}'s page holds what {decision.player} said in private"
        for plan in tiny(name).players:
            if plan.prompt and plan.id != player:
                assert plan.prompt not in page
    assert checked


def said_in(decision: Any) -> Iterator[str]:
    """Yield every text of a decision and its parts."""
    for value in decision.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from said_in(value)


def _sees(visibility: Any, player: str) -> bool:
    return visibility == "all" or player in visibility
