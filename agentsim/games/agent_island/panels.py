"""Panels and tables: votes, survival, words, mentions and jury, from the events that one audience heard.

Given the events that one player heard, panels show only what that player could know. Markup does not belong here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from agentsim.engine.event import LoggedEvent, PlayerId
from agentsim.engine.panel import Cell, Chart, DataTable, Frame, Overview, Panel, Series
from agentsim.engine.truth import Truth
from agentsim.engine.wording import Naming, cut, listed
from agentsim.games.agent_island.speeches import Pitched, Quipped
from agentsim.games.agent_island.view import RoundBegan
from agentsim.games.agent_island.votes import Eliminated, Tallied, Voted, Won

_SPOKEN = (Pitched, Quipped)
_QUOTED = 160  # the most characters of a juror's reason


def panels(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> list[Panel]:
    """Return all panels that have data."""
    some = (_votes(log, players), _jury(log), _survival(log, players))
    out: list[Panel] = [panel for panel in some if panel is not None]
    spoken = [(told.round, told.event.player, told.event.text) for told in log if isinstance(told.event, _SPOKEN)]
    return [*out, _words(spoken, players), _mentions(spoken, players)] if spoken else out


def _votes(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> DataTable | None:
    """Return one column per count: each player's vote, the numbers, and the outcome."""
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
    note = "Elimination votes; jury votes are for the winner." if any(tally.final for tally in tallies) else ""
    return DataTable("Votes", columns, tuple(rows), note)


def _counted(tally: Tallied) -> str:
    most = Counter(tally.votes).most_common()
    return ", ".join(f"{player}\u00a0{count}" for player, count in most if count) or "none"


def _came_of_it(end: Eliminated | Won | None) -> str | None:
    if end is None:
        return None
    return f"{end.player} {'wins' if isinstance(end, Won) else 'leaves'}{', by lot' if end.drawn_by_lot else ''}"


def _jury(log: Sequence[LoggedEvent]) -> DataTable | None:
    final = {told.event.round for told in log if isinstance(told.event, Tallied) and told.event.final}
    rows = tuple(
        (told.event.voter, told.event.choice or "(abstains)", told.event.explanation)
        for told in log
        if isinstance(told.event, Voted) and told.round in final
    )
    return DataTable("The jury", ("juror", "vote", "explanation"), rows) if rows else None


def _survival(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Chart | None:
    rounds = [told.event.round for told in log if isinstance(told.event, RoundBegan)]
    if not rounds:
        return None
    gone = {told.event.player: told.event.round for told in log if isinstance(told.event, Eliminated)}
    winner = next((told.event.player for told in log if isinstance(told.event, Won)), None)
    survived = tuple(float(gone[player] - 1 if player in gone else rounds[-1]) for player in players)
    note = f"{winner} won." if winner else ""
    return Chart("Survival", "bar", tuple(players), (Series("", survived),), "player", "rounds survived", note)


def overview(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Overview:
    """Return the votes to eliminate each player so far. The jury's votes are the margin."""
    tallies = [told.event for told in log if isinstance(told.event, Tallied) and not told.event.final]
    if not tallies:
        return Overview(margin=("jury_votes",), why=_why(log))
    gone = {told.event.player: told.event.round for told in log if isinstance(told.event, Eliminated)}
    lines = []
    for player in players:
        so_far = accumulate(tally.votes.get(player, 0) for tally in tallies)
        known = (
            float(votes) if tally.round <= gone.get(player, tally.round) else None
            for tally, votes in zip(tallies, so_far, strict=True)
        )
        lines.append(Series(player, tuple(known)))
    rounds = tuple(tally.round for tally in tallies)
    chart = Chart("Votes against so far", "line", tuple(map(str, rounds)), tuple(lines), "round", "", "", rounds)
    return Overview(chart, lowest=True, margin=("jury_votes",), why=_why(log), refusals=("declined to talk",))


def _why(log: Sequence[LoggedEvent]) -> str:
    """Return the jurors who voted for the winner, with the longest reason, or "" if no such vote was heard."""
    won = next(((told.round, told.event.player) for told in log if isinstance(told.event, Won)), None)
    kept = [t.event for t in log if isinstance(t.event, Voted) and (t.round, t.event.choice) == won]
    if not kept:
        return ""
    best = max(kept, key=lambda vote: len(vote.explanation))
    quoted = f" {best.voter}: \u201c{cut(best.explanation, _QUOTED)}\u201d" if best.explanation else ""
    return f"{listed([vote.voter for vote in kept])} voted for {kept[0].choice}.{quoted}"


def _words(spoken: Sequence[tuple[int, str, str]], players: Sequence[PlayerId]) -> Chart:
    counts: Counter[tuple[int, str]] = Counter()
    for at, speaker, text in spoken:
        counts[at, speaker] += len(text.split())
    series = tuple(
        Series(f"round {at}", tuple(float(counts[at, player]) for player in players))
        for at in sorted({at for at, *_ in spoken})
    )
    return Chart("Words spoken in public", "stacked", tuple(players), series, "player", "words")


def _mentions(spoken: Sequence[tuple[int, str, str]], players: Sequence[PlayerId]) -> DataTable:
    naming = Naming((player, player) for player in players)
    counts = Counter((speaker, named) for _, speaker, text in spoken for named in naming.named(text))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (speaker, *(counts[speaker, player] if player != speaker else None for player in players))
        for speaker in players
    )
    note = "How often each speaker named each player in public; ids are matched as whole words, as they are spelt."
    if {"A", "I"} & set(players):
        note += " A at the beginning of a sentence is not counted, nor is I unless the word player precedes it."
    return DataTable("Mentions", ("speaker", *players), rows, note=note, heat=True)


FACTS = {"eliminated": "the player who is eliminated next", "vote": "the player for whom the player votes next"}


def truths(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Iterator[Truth]:
    """Yield every elimination and every vote. Votes stay secret."""
    for at, event in enumerate((told.event for told in log), start=1):
        match event:
            case Eliminated(player=player):
                yield Truth("eliminated", player, at, public=at)
            case Voted(voter=voter, choice=str(choice)):
                yield Truth("vote", choice, at, voter)
            case _:
                pass


def tables(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
    """Return `votes` with one row per vote, and `tallies` with one row per candidate of a count.

    `choice` is empty for an abstention. `ballot` is a JSON list of the candidates in the order in which the voter read
    them, `position` the place of the choice.
    """
    votes: list[tuple[Cell, ...]] = []
    tallies: list[tuple[Cell, ...]] = []
    chosen = {told.round: told.event.player for told in log if isinstance(told.event, Eliminated | Won)}
    finals = {told.event.round for told in log if isinstance(told.event, Tallied) and told.event.final}
    for told in log:
        match told.event:
            case Voted(voter=voter, choice=choice, explanation=explanation, ballot=ballot):
                read = json.dumps(ballot, ensure_ascii=False), ballot.index(choice) + 1 if choice in ballot else None
                votes.append((told.round, told.round in finals, voter, choice, explanation, *read))
            case Tallied() as tally:
                for candidate, count in tally.votes.items():
                    row = (tally.round, tally.final, candidate, count)
                    tallies.append((*row, candidate == chosen.get(tally.round), candidate in tally.tied))
            case _:
                pass
    return {
        "votes": Frame(("round", "final", "voter", "choice", "explanation", "ballot", "position"), tuple(votes)),
        "tallies": Frame(("round", "final", "candidate", "votes", "chosen", "tied"), tuple(tallies)),
    }
