"""Panels on the page of every game: by model, for and against, words and actions, answers to interviews."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from agentsim.engine.codec import paths_in
from agentsim.engine.event import AGAINST, FOR, NAMED, NEITHER, Event, Sign
from agentsim.engine.panel import Cell, Chart, DataTable, Panel, Series
from agentsim.engine.probabilities import brier_score
from agentsim.engine.steering import Announced
from agentsim.engine.survey import SurveyQuestion
from agentsim.engine.wording import cut, listed
from agentsim.errors import ScenarioError
from agentsim.games import find
from agentsim.records.events import InteractionCount, Pair
from agentsim.records.history import EventRecord, History
from agentsim.records.journal import DecisionRecord
from agentsim.records.tables import Belief, SurveyAnswer, beliefs_in, survey_answers
from agentsim.report.markup import TemplateContext, number

MOST_KINDS = 10
"""The most columns of events. The players' cards have the rarer kinds."""
MOST_PAIRS = 30
MOST_PERIODS = 8
"""The most columns of rounds. If there are more rounds, several share a column."""
MOST_ROWS = 1_500
"""The most decisions in the table of words and actions."""
_LONG = 600  # characters of a cell of that table
_SIGNS: dict[Sign, str] = {FOR: "+\u00a0", AGAINST: "\u2212\u00a0", NEITHER: ""}


def label_of(kind: str, labels: Mapping[str, str]) -> str:
    """Return the name of a kind of event for a reader, by the labels of the game's events."""
    return labels.get(kind) or kind.replace("_", " ")


def event_labels(game: str) -> dict[str, str]:
    """Return the labels of a game's events by kind, or nothing if the game is not installed."""
    try:
        known: tuple[type[Event], ...] = (Announced, *find(game).events)
    except ScenarioError:
        return {}
    return {event.kind: event.label for event in known}


def model_table(history: History, actions: Mapping[str, Counter[str]], labels: Mapping[str, str]) -> DataTable | None:
    """Return the mean number of events of each kind per player, by model.

    `actions` holds the counts by player, `labels` the names of the kinds for a reader (`event_labels`).

    None if there are fewer than two models or each has a single player.
    """
    models: dict[str, list[str]] = defaultdict(list)
    for record in history.seated:
        if record.model:
            models[record.model].append(record.id)
    if len(models) < 2 or all(len(players) == 1 for players in models.values()):
        return None
    counts = {model: sum((actions[player] for player in players), Counter[str]()) for model, players in models.items()}
    kinds = [kind for kind, _ in sum(counts.values(), Counter[str]()).most_common(MOST_KINDS)]
    asked = Counter(decision.player for decision in history.decisions if decision.source != "bot")
    fell = Counter(decision.player for decision in history.decisions if decision.source == "fallback")
    ranked = history.outcome is None or history.outcome.ranked
    placed = {standing.player: standing.rank for standing in history.outcome.standings} if history.outcome else {}

    def row(model: str, players: Sequence[str]) -> tuple[Cell, ...]:
        made = sum(asked[player] for player in players)
        ranks = [rank for player in players if (rank := placed.get(player)) is not None]
        mean_rank = round(sum(ranks) / len(ranks), 2) if ranks else None
        means = [round(counts[model][kind] / len(players), 2) for kind in kinds]
        share = round(sum(fell[player] for player in players) / made, 3) if made else None
        return (model, len(players), *([mean_rank] if ranked else []), *means, share)

    rank = ("mean rank",) if ranked else ()
    columns = ("model", "players", *rank, *(label_of(kind, labels) for kind in kinds), "fallbacks")
    rows = tuple(row(model, players) for model, players in models.items())
    share = "; fallbacks are a share of decisions that no bot made"
    if all(each[-1] is None for each in rows):
        columns, rows, share = columns[:-1], tuple(each[:-1] for each in rows), ""
    note = f"Events are per player{share}. One game is an anecdote: to compare, play many."
    return DataTable("By model", columns, rows, note)


def pairs_table(found: Sequence[Pair], titles: Mapping[int, str]) -> DataTable | None:
    """Return a table of the `MOST_PAIRS` busiest pairs, in the given order, or None if no pair interacted.

    Pairs with the most interactions for or against each other are the busiest, then those that talked most. Naming
    alone does not count. `titles` are the titles of all rounds by number.
    """
    interacting = [pair for pair in found if any(action.action != NAMED for action in pair.actions)]
    if not interacting:
        return None
    kept = set(sorted(interacting, key=_busyness)[:MOST_PAIRS])
    shown = [pair for pair in interacting if pair in kept]
    columns: dict[str, list[Cell]] = {
        "for": [pair.times(FOR) or None for pair in shown],
        "against": [pair.times(AGAINST) or None for pair in shown],
        "turned": [_turns(pair, titles) for pair in shown],
    }
    for period in _periods({action.round for pair in interacting for action in pair.actions}):
        columns[_heading(period, titles)] = [_done([d for d in pair.actions if d.round in period]) for pair in shown]
    columns["named in"] = [pair.named or None for pair in shown]
    columns["then for"] = [pair.after_naming(FOR) or None for pair in shown]
    columns["then against"] = [pair.after_naming(AGAINST) or None for pair in shown]
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    rows = zip([f"{pair.who} \u2192 {pair.whom}" for pair in shown], *columns.values(), strict=True)
    title = "For and against each other" if {"for", "against"} & columns.keys() else "Between each two"
    return DataTable(title, ("who to whom", *columns), tuple(rows), _pairs_note(len(interacting), columns))


def _busyness(pair: Pair) -> tuple[int, int, int]:
    """Return a sort key: pairs with the most interactions first, then those that turned most often."""
    return -pair.times(FOR) - pair.times(AGAINST), -len(pair.turns), -pair.times(NEITHER)


def _periods(rounds: set[int]) -> list[range]:
    """Return a range per round with an interaction, or at most `MOST_PERIODS` equal spans if there are more."""
    if len(rounds) <= MOST_PERIODS:
        return [range(number, number + 1) for number in sorted(rounds)]
    first, last = min(rounds), max(rounds)
    step = -(-(last + 1 - first) // MOST_PERIODS)
    return [range(start, min(start + step, last + 1)) for start in range(first, last + 1, step)]


def _heading(period: Sequence[int], titles: Mapping[int, str]) -> str:
    first, last = (_short(at, titles) for at in (period[0], period[-1]))
    stem = first.removesuffix(str(period[0]))
    if first == last:
        return first
    return f"{stem}{period[0]}\u00a0to\u00a0{period[-1]}" if last == f"{stem}{period[-1]}" else f"{first} to {last}"


def phases(rounds: Sequence[TemplateContext]) -> list[tuple[str, str]]:
    """Return headings of the rounds with the anchor of the first round of each. Many rounds are grouped."""
    titles = {each.index: each.title for each in rounds}
    anchors = {each.index: each.anchor for each in rounds}
    spans = [[at for at in span if at in titles] for span in _periods({*titles})] if len(titles) > 2 else []
    return [(_heading(span, titles), anchors[span[0]]) for span in spans if span]


def _short(number: int, titles: Mapping[int, str]) -> str:
    """Return a round's title up to a colon, or its number if it has no title."""
    return titles.get(number, "").partition(":")[0] or str(number)


def _turns(pair: Pair, titles: Mapping[int, str]) -> str | None:
    turns = []
    for at, sign in pair.turns:
        when = _short(at, titles).replace(" ", "\u00a0")
        turns.append(f"{'for' if sign == FOR else 'against'} ({when})")
    return "; ".join(turns[:2]) + (f"; {len(turns) - 2} more" if len(turns) > 2 else "") if turns else None


def _done(actions: Sequence[InteractionCount]) -> str | None:
    """Return the interactions in words, each kind once, in order of first occurrence."""
    times: Counter[tuple[Sign, str]] = Counter()
    amounts: dict[tuple[Sign, str], float] = defaultdict(float)
    for action in actions:
        if action.action != NAMED:  # naming has its own columns
            times[action.sign, action.action] += action.times
            if action.amount is not None:
                amounts[action.sign, action.action] += action.amount
    parts = []
    for (sign, what), count in times.items():
        often = f"\u00a0×{count}" if count > 1 else ""
        much = f" ({number(amounts[sign, what])})" if (sign, what) in amounts else ""
        parts.append(f"{_SIGNS[sign]}{what}{often}{much}")
    return ", ".join(parts) or None


def _pairs_note(pairs: int, columns: Mapping[str, object]) -> str:
    note = "What each chose to do towards the other; in brackets how much, all together."
    if "for" in columns or "against" in columns:
        note = (
            "What each chose to do: + for the other (gave it something, said yes), \u2212 against it (said no), talk "
            "without a sign; in brackets what was given, all together."
        )
    if "turned" in columns:
        note += " A pair turns when an action against the other follows one for it, or the other way round."
    if "named in" in columns:
        note += (
            " Named in: rounds in which one named the other in words for all, and how many of them then saw an action "
            "for or against it."
        )
    if pairs > MOST_PAIRS:
        note += f" The {MOST_PAIRS} busiest of {pairs:,} pairs; agentsim export writes all, as the table pairs."
    return note


def said_and_done_table(history: History, *, reasoning: bool) -> DataTable | None:
    """Return a row for each decision with words for others and a thought or an action beside them, or None without any.

    A thought is a text of a decision that no other player hears. With `reasoning` the model's own reasoning is
    included. The reader judges whether words and actions agree.
    """
    caused: dict[int, list[tuple[str, EventRecord]]] = defaultdict(list)
    for record in history.rounds:
        for event in record.events:
            if isinstance(index := event.metadata.get("decision"), int):
                caused[index].append((record.title, event))
    found = [_row(decision, caused.get(decision.index, ()), reasoning=reasoning) for decision in history.decisions]
    rows = [row for row in found if row.said and (row.thought or row.explanation or row.reasoning or row.did)]
    parted = not rows  # words and actions are separate decisions
    if parted:
        rows = list(_beside(found))
    if not rows:
        return None
    names = DecisionRow._fields
    # drop empty columns, to leave room for the others
    shown = [name for name, *cells in zip(names, *rows[:MOST_ROWS], strict=True) if set(cells) != {None}]
    parts = ["said"] * ("said" in shown) + ["thought"] * bool({"thought", "reasoning"} & {*shown})
    parts += ["explained"] * ("explanation" in shown)
    title = listed([*parts, *["done"] * ("did" in shown)]).capitalize()
    note = _note_of(shown, parted=parted)
    if len(rows) > MOST_ROWS:
        note += f" The first {MOST_ROWS:,} of {len(rows):,}."
    indices = [names.index(name) for name in shown]
    return DataTable(
        title, tuple(shown), tuple(tuple(row[index] for index in indices) for row in rows[:MOST_ROWS]), note
    )


def _note_of(columns: Collection[str], *, parted: bool) -> str:
    """Say what stands beside what, by the columns that are shown."""
    own = {"thought": "private thought", "reasoning": "reasoning", "explanation": "explanation", "did": "action"}
    beside = listed([what for column, what in own.items() if column in columns])
    if "said" not in columns:
        return f"The {beside} of each decision."
    if parted:
        return f"The {beside} of a decision, beside what the player last said to all in that round."
    return f"What was said in a decision, beside its {beside}. The search finds these too."


class DecisionRow(NamedTuple):
    """The results of one decision. Each part is None if it is empty."""

    when: str
    who: str
    said: str | None
    to: str | None
    thought: str | None
    explanation: str | None
    reasoning: str | None
    did: str | None


def _beside(rows: Iterable[DecisionRow]) -> Iterator[DecisionRow]:
    """Yield thoughts and actions beside the player's last public words in the round.

    For games in which words and actions are separate decisions.
    """
    last: dict[tuple[str, str], str | None] = {}
    for row in rows:
        if row.said and row.to == "all":
            last[row.when, row.who] = row.said
        if (row.thought or row.explanation) and row.did:
            yield row._replace(said=last.get((row.when, row.who)))


def _row(decision: DecisionRecord, caused: Iterable[tuple[str, EventRecord]], *, reasoning: bool) -> DecisionRow:
    leaves = [(leaf, isinstance(path[-1], int)) for path, leaf in paths_in(decision.decision)]
    words = {leaf.strip() for leaf, _ in leaves if isinstance(leaf, str)} - {""}
    said, thought, explained, reasoned, did, spoken = [], [], [], [], [], []
    explanation = str(decision.decision.get("explanation") or "").strip()
    when, to = "", ""
    for title, event in caused:
        when = title
        if event.content.strip() not in words:
            did.append(event.heading)
            continue
        others = [player for player in event.visibility if event.visibility != "all" and player != decision.player]
        if event.content.lstrip().startswith("{"):
            continue  # a bot's memory is not words
        if event.visibility == "all" or others:
            said.append(event.content)
            to = "all" if event.visibility == "all" else to or ", ".join(others)
            spoken.append(event.heading)
        elif event.content.strip() == explanation:  # of a vote, which its counters read
            explained.append(event.content)
            spoken.append(event.heading)
        else:
            thought.append(event.content)
    if reasoning:
        reasoned = [attempt.reasoning for attempt in decision.attempts if attempt.reasoning]
    chosen = any(leaf for leaf, within in leaves if within or not isinstance(leaf, str))
    if not did and (chosen or (not said and words - {*thought, *explained})):
        did = spoken  # one event reports both the words and the action
    to = to if said else ""
    return DecisionRow(
        when,
        decision.player,
        *(cut("\n".join(part), _LONG) or None for part in (said, [to], thought, explained, reasoned, did)),
    )


def survey_panels(history: History) -> Iterator[Panel]:
    """Yield the panels of each question that was asked. A history as one player saw it has no interviews."""
    if not history.scenario.get("interviews") and not history.later:
        return
    by_question: dict[SurveyQuestion, list[SurveyAnswer]] = {}
    for answer in sorted(survey_answers(history), key=_asked_at):
        by_question.setdefault(answer.question, []).append(answer)
    beliefs = sorted(beliefs_in(history), key=lambda belief: _asked_at(belief.answer))
    for question, answers in by_question.items():
        if question.probabilities:
            stated = [each for each in beliefs if each.answer.question == question]
            yield from _beliefs(history, question, answers, stated)
        elif question.is_open or question.about:
            yield _answers(history, question, answers)
        else:
            yield _shares(history, question, answers)


def _shares(history: History, question: SurveyQuestion, answers: Sequence[SurveyAnswer]) -> Chart:
    asked = list(dict.fromkeys(map(_moment, answers)))
    given = [[e.answer for e in answers if _moment(e) == when and e.answer is not None] for when in asked]
    if question.options or question.among:
        options = question.options or sorted({str(answer) for said in given for answer in said})
        share = [[100 * said.count(option) / len(said) if said else None for said in given] for option in options]
        series = [Series(option, tuple(shares)) for option, shares in zip(options, share, strict=True)]
        label = "share of answers, %"
    else:
        numbers = [[answer for answer in said if isinstance(answer, int)] for said in given]
        series = [
            Series(name, tuple(of(said) if said else None for said in numbers))
            for name, of in (("mean", fmean), ("lowest", min), ("highest", max))
        ]
        label = "answer"
    titles = tuple(_when(history, when) for when in asked)
    return Chart(_title(question), "line", titles, tuple(series), _axis(asked), label, _note(answers))


def _answers(history: History, question: SurveyQuestion, answers: Sequence[SurveyAnswer]) -> DataTable:
    said = [each for each in answers if each.answer is not None]
    about = ("about",) if question.about else ()
    rows = tuple(
        (
            *(_when(history, _moment(each)), each.decision.player, *([each.about] if about else [])),
            each.answer if not isinstance(each.answer, dict) else None,
        )
        for each in said
    )
    return DataTable(_title(question), (_axis(map(_moment, said)), "player", *about, "answer"), rows, _note(answers))


def _beliefs(
    history: History, question: SurveyQuestion, answers: Sequence[SurveyAnswer], beliefs: Sequence[Belief]
) -> Iterator[Panel]:
    """Yield the paths of beliefs from moment to moment, and a table of each belief."""
    asked = list(dict.fromkeys(map(_moment, answers)))
    titles, axis = tuple(_when(history, when) for when in asked), _axis(asked)
    known = any(each.truth is not None for each in beliefs)
    if question.about is None:
        lines = list(dict.fromkeys(outcome for each in beliefs for outcome in each.probabilities))

        def on(line: str, belief: Belief) -> float | None:
            return belief.probabilities.get(line)

        title = "mean probability, %"
    else:
        lines = list(dict.fromkeys(each.answer.about or "" for each in beliefs))

        def on(line: str, belief: Belief) -> float | None:
            is_about = belief.answer.about == line and belief.truth is not None
            return belief.probabilities[belief.truth] if is_about and belief.truth is not None else None

        title = "mean probability of the truth, %"
    if len(asked) > 1 and (question.about is None or known):
        series = []
        for line in lines:
            found = [[on(line, each) for each in beliefs if _moment(each.answer) == when] for when in asked]
            there = [[value for value in values if value is not None] for values in found]
            series.append(Series(line, tuple(round(100 * fmean(values), 1) if values else None for values in there)))
        note = "Each line is the mean of those who were asked." + (
            "" if question.about is None else " One line a player."
        )
        yield Chart(_title(question), "line", titles, tuple(series), axis, title, f"{note} {_note(answers)}")
    columns = (axis, "player", *(("about",) if question.about else ()), "beliefs, %")
    scored = ("truth", "Brier score") if known else ()
    rows = []
    for each in beliefs:
        said = ", ".join(f"{outcome} {100 * share:.1f}" for outcome, share in _by_share(each.probabilities))
        about = (each.answer.about,) if question.about else ()
        score = (each.truth, None if each.truth is None else round(brier_score(each.probabilities, each.truth), 4))
        when = _when(history, _moment(each.answer))
        rows.append((when, each.answer.decision.player, *about, said, *(score if known else ())))
    yield DataTable(f"{_title(question)} (each belief)", (*columns, *scored), tuple(rows), _note(answers))


def _by_share(probabilities: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(probabilities.items(), key=lambda each: -each[1])


def _asked_at(answer: SurveyAnswer) -> tuple[int, float]:
    """Return a key that puts answers in the order of the game: those of later interviews are read last."""
    events = answer.survey.events
    return answer.survey.round, math.inf if events is None else events


def _moment(answer: SurveyAnswer) -> tuple[int, str | None]:
    return answer.survey.round, answer.survey.moment


def _when(history: History, moment: tuple[int, str | None]) -> str:
    number, named = moment
    return history.rounds[number].title + (f", {named.replace('_', ' ')}" if named else "")


def _axis(moments: Iterable[tuple[int, str | None]]) -> str:
    return "asked" if any(named for _, named in moments) else "at the end of"


def _title(question: SurveyQuestion) -> str:
    whom = {None: "{player}", "players": "each player", "others": "each other player", "self": "yourself"}
    return f"Survey, {question.name}: {question.ask.replace('{player}', whom[question.about])}"


def _note(answers: Sequence[SurveyAnswer]) -> str:
    without = sum(each.answer is None for each in answers)
    missing = f" {without} of {len(answers)} brought no usable answer, and are left out." if without else ""
    return f"Asked off the record: no rule and no later prompt knows the answers.{missing}"
