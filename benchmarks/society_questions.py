"""Questions of two papers, each answered by one table with intervals, out of the recorded tables of a batch.

    agentsim batch --design configs/society/govsim.toml --out logs/govsim
    python -m benchmarks.society_questions talk logs/govsim
    agentsim batch --design configs/society/agentsociety.toml --out logs/agentsociety
    python -m benchmarks.society_questions attitudes logs/agentsociety

`talk` reads the table `days`, `attitudes` the table `survey`. Every game gives one number per measure. Means are over
seeds with 95% intervals by the percentiles of 10,000 bootstrap samples of seeds. Differences are between games of one
seed; seeds that lack a game of a condition are left out. Differences of answers are differences in differences: the
value when the question was first asked, before the shock, is subtracted.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from agentsim.analysis.finished_games import histories
from agentsim.engine.panel import Frame
from agentsim.records.history import History
from agentsim.records.tables import run_tables
from benchmarks.society_scarce import interval

Rows: TypeAlias = Sequence[Mapping[str, Any]]
Tables: TypeAlias = Mapping[str, Frame]
Found: TypeAlias = Mapping[str, float]
"""The numbers of one game, by measure."""
Games: TypeAlias = Mapping[str, Mapping[int, Found]]
"""The numbers by condition and seed."""


def rows(frame: Frame) -> Rows:
    """Return the rows of a table by column."""
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.rows]


# -- GovSim: does talk save the commons?


def talk(history: History, tables: Tables) -> tuple[str, Found]:
    """Return the condition (talk or silence, and the other agents), and the results of one game."""
    ended = rows(tables["days"])[-1]
    others = {player.model for player in history.players if player.id.startswith("other")}
    among = "two are selfish" if others == {"bot/selfish"} else "all are conditional"
    said = "talk" if history.scenario["game_config"].get("talk", True) else "silence"
    awake = ended["active"] / len(history.players)
    return f"{said}, {among}", {"awake on the last evening": awake, "Gini of wealth": ended["gini"]}


# -- AgentSociety: does a shock change attitudes?


def attitudes(history: History, tables: Tables) -> tuple[str, Found]:
    """Return the shocks, and the mean answer to every question by the day on which it was asked."""
    shocks = history.scenario["game_config"].get("shocks") or ()
    answers: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows(tables["survey"]):
        if isinstance(row["answer"], int):
            answers[f"{row['question']}, day {row['round']}"].append(row["answer"])
    return ", ".join(each["title"] for each in shocks) or "no shock", {
        name: fmean(given) for name, given in answers.items()
    }


def first_of(measure: str, measures: Sequence[str]) -> str | None:
    """Return the same question on the first day on which it was asked, or None if that is this one."""
    question = measure.rpartition(", ")[0]
    first = next(each for each in measures if each.rpartition(", ")[0] == question)
    return first if first != measure else None


# -- tables

QUESTIONS = {"talk": talk, "attitudes": attitudes}
BASES = {"no shock", "silence, all are conditional", "silence, two are selfish"}
"""The conditions that others are compared with."""


def games_in(folder: Path, question: str) -> Games:
    """Return the results of finished games, for seeds that have all conditions, with base conditions first.

    Exits if there is no such seed.
    """
    found: defaultdict[str, dict[int, Found]] = defaultdict(dict)
    for name, history in histories(folder):
        if isinstance(history, Exception) or history.outcome is None:
            print(f"{name}: is left out: {history if isinstance(history, Exception) else 'is not finished'}")
            continue
        condition, measured = QUESTIONS[question](history, run_tables(history))
        found[condition][history.seed] = measured
    whole = set.intersection(*(set(own) for own in found.values())) if found else set()
    if not whole:
        raise SystemExit(f"{folder}: holds no seed with a game of each condition")
    order = sorted(found, key=lambda condition: (condition not in BASES, condition))
    return {condition: {seed: found[condition][seed] for seed in sorted(whole)} for condition in order}


def less(games: Games, condition: str, measure: str, first: str | None = None) -> list[float] | None:
    """Return by seed the difference of a condition from its base, or None if it has none.

    With `first`, the same difference in that measure is subtracted.
    """
    base = next((each for each in BASES if each in games and _alike(each, condition)), None)
    if condition in BASES or base is None:
        return None

    def apart(name: str, seed: int) -> float:
        return games[condition][seed][name] - games[base][seed][name]

    return [apart(measure, seed) - (apart(first, seed) if first else 0) for seed in games[condition]]


def _alike(base: str, condition: str) -> bool:
    """Return whether two conditions agree in their second part. A base of one part agrees with all."""
    return "," not in base or base.partition(",")[2] == condition.partition(",")[2]


def table(question: str, games: Games) -> Iterator[str]:
    """Yield a row for each measure: its mean in each condition, and the differences from the base conditions."""
    compared = [condition for condition in games if condition not in BASES]
    heads = ["measure", *games, *(f"difference: {condition}" for condition in compared)]
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    measures = [*dict.fromkeys(name for own in games.values() for found in own.values() for name in found)]
    for measure in measures:
        first = first_of(measure, measures) if question == "attitudes" else None
        cells = [_in_words([found[measure] for found in own.values()]) for own in games.values()]
        cells += [_in_words(less(games, condition, measure, first) or [], "+") for condition in compared]
        yield f"| {measure} | {' | '.join(cells)} |"


def _in_words(values: Sequence[float], sign: str = "") -> str:
    if not values:
        return ""
    low, high = interval(values)
    places = 1 if max(map(abs, values)) > 2 else 2  # one for counts and percentages, two for shares
    return f"{fmean(values):{sign}.{places}f} [{low:{sign}.{places}f}, {high:{sign}.{places}f}]"


def main(words: Sequence[str] | None = None) -> None:
    """Print the table of one question."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("folder", type=Path, help="of a batch")
    given = parser.parse_args(words)
    games = games_in(given.folder, given.question)
    print(f"{len(next(iter(games.values())))} seeds")
    for line in table(given.question, games):
        print(line)


if __name__ == "__main__":
    main()
