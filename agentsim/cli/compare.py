"""`agentsim compare`, `diff` and `influence`: the arms of a fork, two runs, and the effect of one message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from agentsim.cli import shared_options as o
from agentsim.cli.terminal_output import print_panel, remark, safe, say, say_json, shortened, some_left_out
from agentsim.engine.wording import counted
from agentsim.errors import UsageError, needed_by

if TYPE_CHECKING:
    from agentsim.engine.game import ScoreWords
    from agentsim.records.events import Divergence, FirstDifference
    from agentsim.runs.fork import BranchJob
    from agentsim.runs.run import Run, RunResult
    from agentsim.runs.watcher import Watcher


def compare(
    *,
    name: o.RunName,
    at: Annotated[
        int | None, o.option("--at", "The decision that the arms fork from, if there are several.", "N", min=1)
    ] = None,
    control: Annotated[str, o.option("--control", "The arm that the others are compared with.", "ARM")] = "control",
    effect: Annotated[
        float | None, o.option("--effect", "Say how many branches an effect of this size needs.", "SIZE")
    ] = None,
    measure: Annotated[
        str | None, o.option("--measure", "Only this measure: rank, win, a score or an interaction.", "MEASURE")
    ] = None,
    player: Annotated[str | None, o.option("--player", "Only this player.", "ID")] = None,
    every_measure: Annotated[bool, o.option("--all", "Show interactions between players, too.")] = False,
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Compare the arms of a fork, branch k with branch k.

    Shows what each arm does to each player's rank, win and scores, with 95% intervals for each effect and simultaneous
    ones (of all measures, shown or not). NAME is the run that was forked; it is no data point of its branches.
    --json prints all measures. Needs the extra analysis.
    """
    from agentsim import api

    found = api.compare(name, at=at, control=control, effect=effect, logs_dir=logs_dir).filtered(measure, player)
    if as_json:
        say_json(found.to_json())
        return
    from agentsim.analysis.arms import arm_panels

    some_left_out(found.left_out)
    for panel in arm_panels([found], every_measure=every_measure or measure is not None):
        print_panel(panel)


_LONGEST = 300
"""The most characters of a line about the difference of two runs."""


def diff(
    one: Annotated[str, o.run_argument("A", "A run: its name, FOLDER/NAME or a file's path.")],
    other: Annotated[str, o.run_argument("B", "Another run.")],
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Show where two runs part and what followed."""
    from agentsim.games import score_words
    from agentsim.records.events import divergence
    from agentsim.records.load import find_source, load_history, require_history
    from agentsim.records.run_files import RunFiles

    histories = []
    for name in (one, other):
        found = find_source(name, logs_dir)
        if isinstance(found, RunFiles):
            require_history(found)
            found = found.history
        histories.append(load_history(found))
    if histories[0].game != histories[1].game:
        raise UsageError(f"{one} is a game of {histories[0].game}, {other} of {histories[1].game}")
    first = divergence(*histories)
    if as_json:
        line = {"a": one, "b": other, "same": first.same, **asdict(first)}
        say_json(line)
        return
    for row in _parting(first, one, other, score_words(histories[0].game)):
        typer.echo(safe(row))


def _parting(first: Divergence, one: str, other: str, words: ScoreWords) -> list[str]:
    rows = [
        shortened(f"{player}: {mine or 'no player'} in {one}, {theirs or 'no player'} in {other}", _LONGEST)
        for player, (mine, theirs) in first.settings.items()
    ]
    if first.same:
        return [*rows, f"{one} and {other}: the same decisions, events and outcome"]
    rows += _first_difference("decision", first.decision, one, other)
    rows += _first_difference("event", first.event, one, other)
    if first.decision is not None:
        rows.append(
            f"from there on: {counted(first.decisions_after[0], 'decision')} in {one}, "
            f"{first.decisions_after[1]} in {other}"
        )
    rows.append("ranks:")
    for player, (mine, theirs) in first.ranks.items():
        moved = "" if mine == theirs else "  <"
        rows.append(f"  {shortened(player, _LONGEST)}: {_shown(mine)} in {one}, {_shown(theirs)} in {other}{moved}")
    rows += ["scores that differ:"] if first.scores else []
    for player, found in first.scores.items():
        said = (
            f"{words.label(name)} {_shown(mine)} in {one}, {_shown(theirs)} in {other}"
            for name, (mine, theirs) in found.items()
        )
        rows.append("  " + shortened(f"{player}: {'; '.join(said)}", _LONGEST))
    return rows


def _first_difference(what: str, first: FirstDifference | None, one: str, other: str) -> list[str]:
    if first is None:
        return [f"no {what} differs"]
    again = f" (`agentsim fork {one} --at {first.number}` plays on from there)" if what == "decision" else ""
    rows = [f"the first {what} that differs is number {first.number}{again}:"]
    sides = first.one, first.other
    words = [None if side is None else _in_words(side) for side in sides]
    if words[0] == words[1]:  # the difference is in fields that the words leave out
        words = [json.dumps(side, ensure_ascii=False) for side in sides]
    for name, said in zip((one, other), (each or "it has ended" for each in words), strict=True):
        rows.append(f"  {name}: {shortened(said, _LONGEST)}")
    return rows


def _in_words(side: Mapping[str, Any]) -> str:
    """Describe a decision or an event, without its fields for programs."""
    if "decision" in side:
        return f"{side['player']} ({side['kind']}): {json.dumps(side['decision'], ensure_ascii=False)}"
    return f"{side['round']}: {side['heading']}: {side['content']}"


def _shown(value: object) -> str:
    return "–" if value is None else str(value)


Swap: TypeAlias = Literal["silence", "neutral"]
_SHOWN = 300
"""The most characters of a message on a terminal. JSON output has the whole message."""


def influence(
    *,
    name: o.RunName,
    at: Annotated[int, o.option("--at", "Number of the decision that said the message.", "N", min=1)],
    swap: Annotated[
        Swap | None,
        o.option(
            "--swap",
            "What takes the place of the message; default: silence where a player can be silent, else neutral.",
            "silence|neutral",
        ),
    ] = None,
    words: Annotated[str | None, o.option("--words", "Words in place of the message.", "TEXT")] = None,
    each: Annotated[
        bool, o.option("--each", "Do the same for every player's message of that kind in the round.")
    ] = False,
    branches: Annotated[int, o.option("--branches", "How many branches a side.", "K", min=1)] = 20,
    jobs: o.BranchesAtOnce = None,
    limits: o.LimitOptions,
    logs_dir: o.LogsDir = Path("logs"),
    display: o.Display = "auto",
    as_json: o.AsJson = False,
    keys: o.Keys,
) -> None:
    """Measure what a message did to its listeners and the outcome.

    Plays K branches in which decision N says what it said and K in which it is silent, says neutral words of the same
    length, or says TEXT; branch k of both has the same chance. The same command again continues where it stopped,
    and repeats nothing. Limits count only the branch's own calls. Needs the extra analysis.
    """
    from agentsim.cli.run import play_branches
    from agentsim.records.load import named_run
    from agentsim.runs.run import RunOptions

    with needed_by("influence"):
        from agentsim.studies.influence import MessageStudy, influence_panels

    study = MessageStudy.of(named_run(name, logs_dir), at, swap=swap, words=words, each=each, branches=branches)
    env = keys.env

    def opened(job: BranchJob, watcher: Watcher) -> Run:
        return job.run(RunOptions(env, watcher), limits=limits.given)

    def ended(result: RunResult) -> None:
        if result.how == "played" and result.status == "degraded":
            remark(f"{result.files.name} is degraded: its share of fallbacks is above the limit")
        if result.error is not None:
            remark(f"{result.files.name} was stopped: the same command goes on with it")
            raise result.error

    play_branches(study.jobs, jobs, display, opened, ended)
    found = study.measured()
    if not any(one.pairs for one in found):
        raise UsageError(f"{name}: no pair of branches is finished")
    if as_json:
        say_json([one.to_json() for one in found])
        return
    for one in found:
        for text, side in ((one.message.words, "said"), (one.message.instead, one.message.swap)):
            say(safe(f"{one.message.speaker}, {side}: {json.dumps(shortened(text, _SHOWN), ensure_ascii=False)}"))
    for panel in influence_panels(found):
        print_panel(panel)
