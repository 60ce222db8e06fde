"""Rules: games end, use only declared events and requests, accept every fallback, and replay from a run's files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from agentsim.engine.event import LoggedEvent, Nobody, PlayerId
from agentsim.engine.game import Outcome
from agentsim.engine.wording import counted
from agentsim.errors import DecisionError
from agentsim.records.run_files import RunFiles, read_history
from agentsim.results import run_in
from agentsim.runs.replay import prove
from agentsim.runs.run import Run, RunOptions
from agentsim.scenario.load import load
from agentsim.testing.case import MOST_DECISIONS, Case, data_of
from agentsim.testing.check import Check, Findings
from agentsim.testing.malformed import malformed_decision

_MALFORMED = 5
"""The most games of malformed answers."""
_RESUMED = 3
"""The number of decisions per seed from which a run is resumed, evenly spread; the usual 20 seeds take all."""


@Check
def games_end(case: Case) -> Findings:
    """Games of every bot, of random, malformed and fallback answers end with standings; the tiny ones ask everything.

    `ranked` makes standings of scores (1, 1, 3).
    """
    for name, outcome in _outcomes(case):
        ranks = [standing.rank for standing in outcome.standings if standing.rank is not None]
        if sorted(standing.player for standing in outcome.standings) != sorted(case.players):
            yield f"a game of {name}", f"the standings are not of the players: {outcome.standings}"
        elif (
            len(ranks) not in {0, len(outcome.standings)}
            or ranks != sorted(ranks)
            or any(rank != ranks.index(rank) + 1 for rank in ranks)
            or not outcome.reason
        ):
            yield f"a game of {name}", f"the ranks are {ranks}, and the reason is {outcome.reason!r}"
    asked = case.game_by().asked
    if len(asked) >= MOST_DECISIONS:
        yield (
            "the tiny game",
            f"it takes {counted(len(asked), 'decision')}, and {MOST_DECISIONS - 1} are the most",
            "Give it fewer rounds or players.",
        )
    # requests of other settings are asked in other scenarios
    every = [*asked, *(each for other in case.others for each in other.game_by().asked)]
    missing = {each.kind for each in case.game.requests} - {each.ask.request.kind for each in every}
    for kind in sorted(missing if not case.partial else ()):
        advice = "What no tiny scenario asks is never checked: change its rounds, its players or its seed."
        yield "the tiny game", f"it never asks {kind}", advice
    if any(played.play.table.watched is None for played in case.games):
        advice = "Call `table.watch(state)`: the kernel calls `state.check()` after every wave."
        yield "the rules", "they watch no state", advice
    return f"games of {', '.join(case.policies)}, malformed answers"


def _outcomes(case: Case) -> Iterator[tuple[str, Outcome]]:
    yield from ((name, case.game_by(name).outcome) for name in case.policies)
    for seed in range(min(case.seeds, _MALFORMED)):
        yield "malformed answers", case.play(malformed_decision, seed).outcome


@Check
def fallbacks_legal(case: Case) -> Findings:
    """The fallback is legal in every state, and a function of the request.

    Let it choose from what `options` and `why_not` allow.
    """
    for where, asked in case.every():
        fallback = asked.ask.request.fallback()
        try:
            asked.ask.request.check(fallback)
        except DecisionError as error:
            yield where, f"the fallback {fallback!r} is refused: {str(error).rstrip('.')}"
        if asked.ask.request.fallback() != fallback:
            yield (
                where,
                "the fallback is another the second time",
                "Let it depend on the request alone, and draw nothing.",
            )
    return case.looked_at


@Check
def declared(case: Case) -> Findings:
    """Every event and every request of the game has a kind of its own, and every kind of event is heard.

    Name one of the classes otherwise (`kind`).
    """
    for name, classes in (("events", case.game.events), ("requests", case.game.requests)):
        kinds = [each.kind for each in classes]
        for kind in sorted({kind for kind in kinds if kinds.count(kind) > 1}):
            yield f"game.{name}", f"two classes are of the kind {kind}"
    logs = [told for played in case.games for told in played.log]
    heard = {told.event.kind for told in logs if told.to != Nobody}
    unheard = {told.event.kind: told for told in logs if not told.event.for_log and told.event.kind not in heard}
    for kind, told in sorted(unheard.items()):
        yield f"event {kind}", "it is told, and no player hears it in any game", _audience(told, case.players)
    return "; ".join([case.looked_at, *_missed(case)])


def _audience(told: LoggedEvent, players: Sequence[PlayerId]) -> str:
    """Return the advice for an event that no player hears."""
    if told.event.confidants(players):
        return "Tell it to the players that its class names as `private`."
    if told.by is not None:
        return "Tell it to the player whose decision it follows."
    return "Say of its class that it is `for_log`."


def _missed(case: Case) -> Iterator[str]:
    """Yield the declared kinds that occur in no scenario of the game.

    No finding, since other scenarios may have them.
    """
    games = () if case.partial else [game for each in (case, *case.others) for game in (each.game_by(), *each.games)]
    told = {entry.event.kind for played in games for entry in played.log}
    asked = {each.ask.request.kind for played in games for each in played.asked}
    for what, classes, seen in (("told", case.game.events, told), ("asked", case.game.requests, asked)):
        if games and (missed := [each.kind for each in classes if each.kind not in seen]):
            yield f"never {what}: {', '.join(missed)}"


@Check
def json_and_back(case: Case) -> Findings:
    """Requests, decisions and events survive JSON, and an answer that is written as its schema says is read.

    Let their fields be frozen plain data.
    """
    kinds = {event.kind: event for event in case.game.events}
    played = case.game_by()
    for asked in played.asked:
        request, properties = asked.ask.request, asked.ask.request.schema()["properties"]
        again = type(request).restore(json.loads(asked.data))
        if again != request or again.fingerprint != request.fingerprint:
            yield str(asked), "the request is another after `to_json` and `restore`"
        if asked.restored != asked.decision:
            yield str(asked), f"the decision {asked.decision!r} is another after JSON"
        if request.schema()["required"] != list(properties):
            yield str(asked), "the schema does not require every field", "List every field in `required`."
        said = asked.decision.model_dump(mode="json")
        said = said if set(said) == set(properties) else next(iter(said.values()))
        reading = request.parse(json.dumps(said))
        if (reading.decision, reading.stage) != (asked.decision, "json"):
            yield str(asked), f"{said} is read as {reading.decision!r}", "Let an answer have the fields of its schema."
    for event in (told.event for told in played.log):
        again_told = kinds[event.kind].restore(json.loads(json.dumps(event.data())), event.content)
        if again_told != event:
            yield f"event {event.kind}", f"{event!r} is another after JSON"
        if not event.heading:
            yield f"event {event.kind}", "it has no heading", "Give its class a heading."
    return f"{counted(len(played.asked), 'question')} with their answers, {counted(len(played.log), 'event')}"


@Check
def log_replays(case: Case) -> Findings:
    """The decisions of a game alone, read from JSON, give the same questions, events and outcome.

    Let the rules depend on decisions and on `table.chance` alone.
    """
    for seed, played in enumerate(case.games):
        play = case.start(seed)
        wave = play.start()
        for asked in played.waves:
            if [data_of(ask) for ask in (wave.asks if wave else ())] != [each.data for each in asked]:
                yield f"seed {seed}, {asked[0]}", "the replay asks something else"
                break
            wave = play.answer([each.restored for each in asked])
        else:
            if (play.outcome, list(play.log)) != (played.outcome, list(played.log)):
                yield f"seed {seed}", "the replay tells something else, or ends otherwise"
    return case.looked_at


@Check
def run_replays(case: Case) -> Findings:
    """A run's journal replays, and from every decision on it resumes to the same history.

    Let the rules depend on decisions and on `table.chance` alone.
    """
    if case.tiny is None:
        return "nothing: there is no tiny.toml"
    with _run(case, case.tiny) as files:
        prove(files)
        whole, lines = _stable(files), files.journal.read_bytes().splitlines(keepends=True)
        cuts = [number for number, line in enumerate(lines, start=1) if b'"record":"decision"' in line][:-1]
        cuts = cuts[:: max(1, len(cuts) // (_RESUMED * case.seeds))]
        for cut in cuts:
            part = RunFiles(files.directory, f"cut{cut}")
            part.journal.write_bytes(b"".join(lines[:cut]))
            if Run.open(part, RunOptions({})).play_sync().how != "played" or _stable(part) != whole:
                yield f"a run resumed at line {cut} of its journal", "its history is another"
    return f"a run, resumed at {counted(len(cuts), 'decision')}"


@Check
def pages_and_tables(case: Case) -> Findings:
    """The page is made, whole and as each player saw it; every table is there whatever happened.

    Return the same tables whatever was heard; one without rows is there too.
    """
    log = list(case.game_by().log)
    tables = case.game.tables(log, case.players)
    for listener in ("", *case.players):
        heard = [told for told in log if listener and told.heard_by(listener)]
        case.game.panels(heard, case.players)
        if set(some := case.game.tables(heard, case.players)) != set(tables):
            yield (
                f"what {listener or 'the log alone'} heard",
                f"the tables are {sorted(some)}, and of all {sorted(tables)}",
            )
    for name, frame in tables.items():
        if any(len(row) != len(frame.columns) for row in frame.rows):
            yield (
                f"table {name}",
                f"a row has another number of cells than the {counted(len(frame.columns), 'column')}",
                "Give each row a cell for every column.",
            )
    if case.tiny is not None:
        with _run(case, case.tiny) as files:
            for player in (None, *case.players):
                run_in(files).page(files.page, as_seen_by=player, include_prompts=True)
    return f"{counted(len(tables), 'table')}, the panels and pages of {counted(len(case.players), 'player')}"


@contextmanager
def _run(case: Case, tiny: Path) -> Iterator[RunFiles]:
    """Yield a run of the tiny scenario with a bot in every seat, in a folder that is deleted afterwards."""
    with TemporaryDirectory(prefix="agentsim-check-") as folder:
        scenario = load(tiny, overrides=('defaults.model="bot/random"',))
        result = Run.create(scenario, Path(folder), RunOptions({}), name="run").play_sync()
        if result.error is not None:
            raise result.error
        yield result.files


def _stable(files: RunFiles) -> str:
    return read_history(files.history).decode().partition('"volatile":')[0]
