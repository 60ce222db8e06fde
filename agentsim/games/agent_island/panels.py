"""Panels: votes, survival, words, mentions and jury, from the events that one audience heard.

Given the events one player heard, they show what that player could know. Markup does not belong here.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import LogEntry, PlayerId
from agentsim.engine.panel import Cell, Chart, DataTable, Panel, Series
from agentsim.engine.wording import Naming
from agentsim.games.agent_island.opening import RoundBegan
from agentsim.games.agent_island.pitches import Pitched
from agentsim.games.agent_island.quips import Quipped
from agentsim.games.agent_island.votes import Eliminated, Tallied, Voted, Won


def panels(log: Sequence[LogEntry], players: Sequence[PlayerId]) -> list[Panel]:
    """Everything there is to show; panels without any data are left out."""
    some = (_votes(log, players), _jury(log), _survival(log, players))
    out: list[Panel] = [panel for panel in some if panel is not None]
    if any(isinstance(told.event, Pitched | Quipped) for told in log):
        out += [_words(log, players), _mentions(log, players)]
    return out


def _votes(log: Sequence[LogEntry], players: Sequence[PlayerId]) -> DataTable | None:
    """A column a count: whom each voted for, what was counted, and what came of it."""
    tallies = [told.event for told in log if isinstance(told.event, Tallied)]
    if not tallies:
        return None
    votes = {
        (told.event.voter, told.round): told.event.choice or "(abstains)"
        for told in log
        if isinstance(told.event, Voted)
    }
    ends = {told.round: told.event for told in log if isinstance(told.event, Eliminated | Won)}
    rounds = [tally.round for tally in tallies]
    rows: list[tuple[Cell, ...]] = [
        (voter, *(votes.get((voter, at)) for at in rounds))
        for voter in players
        if any((voter, at) in votes for at in rounds)
    ]
    rows.append(("counted", *(_counted(tally) for tally in tallies)))
    rows.append(("outcome", *(_came_of_it(ends.get(at)) for at in rounds)))
    columns = ("voter", *("jury" if tally.final else f"round {tally.round}" for tally in tallies))
    note = (
        "Against whoever must go; of the jury, for whoever should win." if any(tally.final for tally in tallies) else ""
    )
    return DataTable("Votes", columns, tuple(rows), note)


def _counted(tally: Tallied) -> str:
    most = sorted((count for count in tally.votes.items() if count[1]), key=lambda each: -each[1])
    return ", ".join(f"{player}\u00a0{count}" for player, count in most) or "none"


def _came_of_it(end: Eliminated | Won | None) -> str | None:
    if end is None:
        return None
    return f"{end.player} {'wins' if isinstance(end, Won) else 'leaves'}{', by lot' if end.drawn_by_lot else ''}"


def _jury(log: Sequence[LogEntry]) -> DataTable | None:
    final = {told.event.round for told in log if isinstance(told.event, Tallied) and told.event.final}
    rows = tuple(
        (told.event.voter, told.event.choice or "(abstains)", told.event.explanation)
        for told in log
        if isinstance(told.event, Voted) and told.round in final
    )
    return DataTable("The jury", ("juror", "vote", "explanation"), rows) if rows else None


def _survival(log: Sequence[LogEntry], players: Sequence[PlayerId]) -> Chart | None:
    rounds = [told.event.round for told in log if isinstance(told.event, RoundBegan)]
    if not rounds:
        return None
    gone = {told.event.player: told.event.round for told in log if isinstance(told.event, Eliminated)}
    winner = next((told.event.player for told in log if isinstance(told.event, Won)), None)
    survived = tuple(float(gone.get(player, rounds[-1])) for player in players)
    note = f"{winner} won." if winner else ""
    series = (Series("rounds played", survived),)
    return Chart("Survival", "bar", tuple(players), series, "player", "rounds played", note)


def _words(log: Sequence[LogEntry], players: Sequence[PlayerId]) -> Chart:
    rounds = sorted({told.round for told in log if isinstance(told.event, Pitched | Quipped)})
    series = []
    for index in rounds:
        counts = dict.fromkeys(players, 0)
        for told in log:
            if isinstance(told.event, Pitched | Quipped) and told.round == index:
                counts[told.event.player] += len(told.event.text.split())
        series.append(Series(f"round {index}", tuple(float(counts[player]) for player in players)))
    return Chart("Words spoken in public", "stacked", tuple(players), tuple(series), "player", "words")


def _mentions(log: Sequence[LogEntry], players: Sequence[PlayerId]) -> DataTable:
    counts = {speaker: dict.fromkeys(players, 0) for speaker in players}
    naming = Naming((player, player) for player in players)
    for told in log:
        if isinstance(told.event, Pitched | Quipped):
            for player in naming.named(told.event.text):
                counts[told.event.player][player] += 1
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (speaker, *(counts[speaker][player] if player != speaker else None for player in players))
        for speaker in players
    )
    note = "How often each speaker named each player in public; ids are matched as whole words, as they are spelt."
    if {"A", "I"} & set(players):
        note += " The word A at the beginning of a sentence is nobody, nor is I unless player stands before it."
    return DataTable("Mentions", ("speaker", *players), rows, note=note, heat=True)
