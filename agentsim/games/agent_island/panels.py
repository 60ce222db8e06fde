"""Panels: vote matrix, survival, words, mentions and jury, from the events that somebody heard.

Given the events one player heard, they show what that player could know. Markup does not belong here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentsim.engine.event import PlayerId, Told
from agentsim.engine.panel import Cell, Chart, Panel, Series, Table
from agentsim.games.agent_island.events import Eliminated, Pitched, Quipped, RoundBegan, Tallied, Voted, Won

__all__ = ["panels"]


def panels(log: Sequence[Told], players: Sequence[PlayerId]) -> list[Panel]:
    """Everything there is to show; panels without any data are left out."""
    out: list[Panel] = [*_vote_matrices(log, players)]
    out += [panel for panel in (_jury(log), _survival(log, players)) if panel is not None]
    if any(isinstance(told.event, Pitched | Quipped) for told in log):
        out += [_words(log, players), _mentions(log, players)]
    return out


def _vote_matrices(log: Sequence[Told], players: Sequence[PlayerId]) -> list[Table]:
    tables = []
    for tally in (told.event for told in log if isinstance(told.event, Tallied)):
        candidates = tuple(tally.votes)
        votes = {
            told.event.voter: told.event.choice
            for told in log
            if isinstance(told.event, Voted) and told.round == tally.round
        }
        rows: list[tuple[Cell, ...]] = [
            (
                voter,
                *(1 if votes[voter] == candidate else (None if voter == candidate else 0) for candidate in candidates),
            )
            for voter in players
            if voter in votes
        ]
        rows.append(("votes", *tally.votes.values()))
        title = "Jury vote" if tally.final else f"Votes in round {tally.round}"
        note = f"Decided by lot between {', '.join(tally.tied)}." if tally.drawn_by_lot else ""
        tables.append(Table(title, ("voter", *candidates), tuple(rows), note=note, heat=True))
    return tables


def _jury(log: Sequence[Told]) -> Table | None:
    final = {told.event.round for told in log if isinstance(told.event, Tallied) and told.event.final}
    rows = tuple(
        (told.event.voter, told.event.choice or "(abstains)", told.event.explanation)
        for told in log
        if isinstance(told.event, Voted) and told.round in final
    )
    return Table("The jury", ("juror", "vote", "explanation"), rows) if rows else None


def _survival(log: Sequence[Told], players: Sequence[PlayerId]) -> Chart | None:
    rounds = [told.event.round for told in log if isinstance(told.event, RoundBegan)]
    if not rounds:
        return None
    gone = {told.event.player: told.event.round for told in log if isinstance(told.event, Eliminated)}
    winner = next((told.event.player for told in log if isinstance(told.event, Won)), None)
    survived = tuple(float(gone.get(player, rounds[-1])) for player in players)
    note = f"{winner} won." if winner else ""
    series = (Series("rounds played", survived),)
    return Chart("Survival", "bar", tuple(players), series, "player", "rounds played", note)


def _words(log: Sequence[Told], players: Sequence[PlayerId]) -> Chart:
    rounds = sorted({told.round for told in log if isinstance(told.event, Pitched | Quipped)})
    series = []
    for index in rounds:
        counts = dict.fromkeys(players, 0)
        for told in log:
            if isinstance(told.event, Pitched | Quipped) and told.round == index:
                counts[told.event.player] += len(told.event.text.split())
        series.append(Series(f"round {index}", tuple(float(counts[player]) for player in players)))
    return Chart("Words spoken in public", "stacked", tuple(players), tuple(series), "player", "words")


def _mentions(log: Sequence[Told], players: Sequence[PlayerId]) -> Table:
    counts = {speaker: dict.fromkeys(players, 0) for speaker in players}
    patterns = {player: re.compile(rf"(?<![\w-]){re.escape(player)}(?![\w-])") for player in players}
    for told in log:
        if isinstance(told.event, Pitched | Quipped):
            for player, pattern in patterns.items():
                counts[told.event.player][player] += len(pattern.findall(told.event.text))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (speaker, *(counts[speaker][player] if player != speaker else None for player in players))
        for speaker in players
    )
    note = "How often each speaker named each player in public; ids are matched as whole words, as they are spelt."
    return Table("Mentions", ("speaker", *players), rows, note=note, heat=True)
