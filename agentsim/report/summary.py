"""The summary of a game: winner and margin, standings over time, turning points, and cost.

It is derived from the standings, the game's `Overview` and the interactions that its events declare. The markup is
`templates/summary.html.j2`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from agentsim.engine.codec import paths_in
from agentsim.engine.event import AGAINST, FOR, LoggedEvent, Past
from agentsim.engine.game import ScoreWords, Standing
from agentsim.engine.panel import DataTable, Overview
from agentsim.engine.wording import listed
from agentsim.games import score_words
from agentsim.patterns import Pattern
from agentsim.records.fallback_rates import fallback_rates_in
from agentsim.records.history import EventRecord, History
from agentsim.report.charts import chart
from agentsim.report.markup import TemplateContext, number

MOST_POINTS = 3
MOST_STANDINGS = 30
"""With more players than this, the summary shows the spread of each score, and the table is folded."""
_AS_LARGE = 2
"""If more changes than this are equally large, none of them is a turning point."""
_NAMED = 3
"""The most simultaneous acts that are listed, and the most players named for one act."""
_SPELT = {"gpt": "GPT", "deepseek": "DeepSeek", "smollm2": "SmolLM2", "glm": "GLM", "oss": "OSS"}
_SIZE = Pattern(r"\d+(\.\d+)?[bmk]|a\d+b")


class TurningPoint(NamedTuple):
    """A turning point of the game.

    `what` is its kind, `who` the player (None if not one player), `round` its number, and `anchor` that of its event.
    """

    what: str
    who: str | None
    text: str
    round: int
    anchor: str


def readable(model: str) -> str:
    """Return a model's name for people, or "" for bots and scripts.

    `openrouter/anthropic/claude-haiku-4.5` is Claude Haiku 4.5.
    """
    first = model.partition(" > ")[0]
    if first.startswith(("bot/", "script:")) or "/" not in first:
        return ""
    words = re.split(r"[-_\s]+", first.rpartition("/")[2].partition(":")[0])
    shown = [_SPELT.get(word.lower()) or (word.upper() if _SIZE.fullmatch(word) else word) for word in words]
    spelt = " ".join(word if re.match(r"[A-Z]|v?\d", word) else word.capitalize() for word in shown)
    return re.sub(r"^GPT (?=\d)", "GPT-", spelt)


def summary(
    history: History, log: Sequence[LoggedEvent], overview: Overview, seat_indices: Mapping[str, int]
) -> TemplateContext:
    """Return the summary. `log` holds the events of the history in order, or is empty if only the history is known."""
    standings = history.outcome.standings if history.outcome else []
    words = score_words(history.game)
    spread = _spread(standings) if len(standings) > MOST_STANDINGS else ()
    winner = history.outcome and history.outcome.winner
    second = [standing.player for standing in standings if standing.rank == 2]
    called = {name: player for player, name in history.names.items()}
    leads = list(_leads(overview, [*history.names.values(), *(record.id for record in history.seated)]))
    records = [event for part in history.rounds for event in part.events]
    told = list(zip(log, records, strict=True)) if log else []
    seats = [record.id for record in history.seated]
    gone = {player: (logged, event) for logged, event in told for player in logged.event.eliminated_players(seats)}
    turns = (
        *(_named_by_game(overview, told), _largest(history, overview, called, gone), _first_out(gone)),
        *(_last_lead(history, overview, leads), _hostile(told, history, overview.refusals)),
    )
    points: dict[str, TurningPoint] = {}
    for point in chain(*turns):
        points.setdefault(point.anchor, point)
    shares = fallback_rates_in(history)
    titles = {part.index: part.title.partition(":")[0] for part in history.rounds}
    return TemplateContext(
        winner=None if overview.verdict else winner,
        beaten=second[0] if winner and len(second) == 1 else None,
        margin=_margin(standings, overview.margin, words) if winner and second else "",
        verdict=overview.verdict,
        why=overview.why,
        labels=overview.labels,
        words=words,
        spread=[(words.label(name), ends) for name, ends in spread],
        models={record.id: readable(record.model) for record in history.players},
        chart=None
        if overview.score_chart is None
        else chart(overview.score_chart, seat_indices, leads=[index for index, _ in leads]),
        leads=[overview.score_chart.rounds[index] for index, _ in leads] if overview.score_chart else [],
        points=sorted([*points.values()][:MOST_POINTS], key=lambda point: point.round),
        out={player: titles[logged.round] for player, (logged, _) in gone.items()},
        titles=titles,
        fallbacks=[(readable(model) or model, its.percent) for model, its in shares.by_model.items() if its.fallbacks],
    )


def _spread(standings: Sequence[Standing]) -> Iterator[tuple[str, tuple[float, float, float]]]:
    """Yield the minimum, the (upper) median and the maximum of each score that differs."""
    for name in dict.fromkeys(name for standing in standings for name in standing.score):
        values = sorted(standing.score[name] for standing in standings if name in standing.score)
        if values[0] != values[-1]:
            yield name, (values[0], values[len(values) // 2], values[-1])


def _margin(standings: Sequence[Standing], names: Sequence[str], words: ScoreWords) -> str:
    """Return the values of the first two players in the score that decided, or "" if none differs.

    If the game names no deciding scores, the first score in which the winner is ahead counts.
    """
    first, second = (standing.score for standing in standings[:2])
    known = [name for name in names or first if name in first and name in second]
    decided = [name for name in known if first[name] > second[name]] + [name for name in names if name in known]
    if not decided:
        return ""
    name = decided[0]
    mine, other = number(first[name]), number(second[name])
    return f"{f'tied at {mine}' if mine == other else f'{mine} to {other}'} in {words.label(name)}"


def _leads(overview: Overview, players: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the indices on the axis at which the leader changes, with the new leader.

    A tie with the leader changes nothing.
    """
    standing = overview.score_chart
    if standing is None or not standing.rounds or not {line.name for line in standing.series} <= set(players):
        return
    leader, sign = None, -1 if overview.lowest else 1
    for index in range(len(standing.rounds)):
        values = {line.name: sign * value for line in standing.series if (value := line.values[index]) is not None}
        best = [name for name, value in values.items() if value == max(values.values())]
        if best and leader not in best and (leader is not None or len(best) == 1):
            if leader is not None:
                yield index, best[0]
            leader = best[0]


def exchanges(panel: DataTable, history: History, turned: Container[int]) -> TemplateContext:
    """Return the table of words and actions with the round of each row.

    `sample` is a telling row, if possible of a turning point; `chosen` says why it is shown.
    """
    rounds = {part.title: part.index for part in history.rounds}
    rows = [dict(zip(panel.columns, row, strict=True)) for row in panel.rows]
    rows = [{**row, "turn": rounds[str(row["when"])]} for row in rows]
    told = [row for row in rows if row.get("thought") or row.get("explanation") or row.get("reasoning")] or rows
    parts = ("thought", "explanation", "did")
    # words beside a thought are better than a thought alone
    sample = max(told, key=lambda row: (bool(row.get("said")), row["turn"] in turned, *map(bool, map(row.get, parts))))
    chosen = f"the fullest of {number(len(rows))}" if len(rows) > 1 else ""
    chosen += ", at a turning point" if chosen and sample["turn"] in turned else ""
    return TemplateContext(panel=panel, rows=rows, sample=sample, chosen=chosen)


def _named_by_game(overview: Overview, told: Sequence[tuple[LoggedEvent, EventRecord]]) -> Iterator[TurningPoint]:
    for at, what, text in overview.turns if told else ():
        logged, event = told[at]
        yield TurningPoint(what, None, text or event.heading, logged.round, f"e{event.seq}")


def _largest(
    history: History,
    overview: Overview,
    called: Mapping[str, str],
    gone: Mapping[str, tuple[LoggedEvent, EventRecord]],
) -> Iterator[TurningPoint]:
    """Yield the largest change of one series between adjacent points of the axis, unless many are as large.

    It links to the event by which a player left in those rounds, or else to the event that has the amount, if one has.
    """
    standing = overview.score_chart
    if standing is None or not standing.rounds:
        return
    changes = [
        (after - before, line.name, index)
        for line in standing.series
        for index, (before, after) in enumerate(pairwise(line.values), start=1)
        if before is not None
        and after is not None
        and after != before
        and standing.rounds[index] > standing.rounds[index - 1]
    ]
    sizes = [abs(change) for change, *_ in changes]
    if changes and sizes.count(max(sizes)) <= _AS_LARGE:
        change, name, index = max(changes, key=lambda found: abs(found[0]))
        who = called.get(name, name)
        span = range(standing.rounds[index - 1] + 1, standing.rounds[index] + 1)
        parts = [(at, part) for at, part in enumerate(history.rounds) if part.index in span]
        events = [event for _, part in parts for event in part.events if {who, name} & _named(event)]
        left = [event for logged, event in gone.values() if logged.round in span]
        told = [event for event in events if _fit(event, abs(change), {who, name})[1]]
        found = max(left or told, key=lambda event: _fit(event, abs(change), {who, name}), default=None)
        seated = who in {record.id for record in history.seated}
        measure = standing.title[:1].lower() + standing.title[1:] if seated else name
        said = f"{measure} {'+' if change > 0 else ''}{number(change)}"
        anchor = f"e{found.seq}" if found else f"round-{parts[0][0]}" if parts else "timeline"
        if found:
            said += f" ({found.heading})"
        yield TurningPoint("Largest change", who if seated else None, said, standing.rounds[index], anchor)


def _named(event: EventRecord) -> set[object]:
    named: set[object] = {event.role.removeprefix("player ")}
    for path, leaf in paths_in(event.data):
        named |= {leaf, *path}
    return named


def _fit(event: EventRecord, amount: float, names: set[object]) -> tuple[bool, bool, float]:
    """Return a sort key of how well an event explains a change.

    Its parts: has the amount for one of these names, has the amount, its largest number.
    """
    numbers = [(path, abs(leaf)) for path, leaf in paths_in(event.data) if isinstance(leaf, int | float)]
    same = [path for path, leaf in numbers if leaf == amount]
    return any(names & {*path} for path in same), bool(same), max((leaf for _, leaf in numbers), default=0)


def _hostile(
    told: Sequence[tuple[LoggedEvent, EventRecord]], history: History, refusals: Sequence[str]
) -> Iterator[TurningPoint]:
    """Yield the first act of a player against one it had helped before, or else against any player.

    Refusals do not count. Acts decided in the same wave, such as votes, are simultaneous and are reported together.
    """
    past, kind_to, seats = Past(), set[tuple[str, str]](), {record.id for record in history.seated}
    waves = {decision.index: decision.wave for decision in history.decisions}
    first: dict[bool, tuple[object, LoggedEvent, EventRecord]] = {}
    actions: dict[bool, dict[tuple[str, str], list[str]]] = {True: {}, False: {}}
    for logged, event in told:
        moment = (logged.round, waves.get(logged.decision or 0, event.seq))
        for done in logged.event.interactions(past):
            if done.sign == FOR:
                kind_to.add((done.who, done.whom))
            elif done.sign == AGAINST and done.action not in refusals and {done.who, done.whom} <= seats:
                betrayed = (done.who, done.whom) in kind_to
                if first.setdefault(betrayed, (moment, logged, event))[0] == moment:
                    actions[betrayed].setdefault((done.action, done.whom), []).append(done.who)
        past.add(logged.event)
    for betrayed in sorted(first, reverse=True)[:1]:
        (_, logged, event), whole = first[betrayed], actions[betrayed]
        what = "First betrayal" if betrayed else "First hostile act"
        who = [player for doers in whole.values() for player in doers]
        (action, whom), *_ = whole
        names = history.names
        text = f"{action} {names.get(whom, whom)}"
        if len(who) > 1:
            said = [
                f"{_doers([names.get(each, each) for each in doers])} {action} {names.get(whom, whom)}"
                for (action, whom), doers in whole.items()
            ]
            more = [f"{len(said) - _NAMED} more such"] if len(said) > _NAMED else []
            text = f"at the same moment: {'; '.join([*said[:_NAMED], *more])}"
        alone = who[0] if len(who) == 1 else None
        yield TurningPoint(what if alone else f"{what}s", alone, text, logged.round, f"e{event.seq}")


def _doers(names: Sequence[str]) -> str:
    return listed(names) if len(names) <= _NAMED else f"{len(names)} players"


def _first_out(gone: Mapping[str, tuple[LoggedEvent, EventRecord]]) -> Iterator[TurningPoint]:
    for logged, event in [*gone.values()][:1]:
        yield TurningPoint("First to leave", None, event.heading, logged.round, f"e{event.seq}")


def _last_lead(history: History, overview: Overview, leads: Sequence[tuple[int, str]]) -> Iterator[TurningPoint]:
    """Yield the last change of the lead."""
    for index, name in leads[-1:]:
        at = overview.score_chart.rounds[index] if overview.score_chart else 0
        anchors = [f"round-{number}" for number, part in enumerate(history.rounds) if part.index == at]
        yield TurningPoint("Last change of the lead", name, "leads from here on", at, *anchors or ["timeline"])
