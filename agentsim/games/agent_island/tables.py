"""Tables: every vote and every count of Agent Island, for export. What a page shows is `panels`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Cell, Frame
from agentsim.games.agent_island.votes import Eliminated, Tallied, Voted, Won


def tables(log: Sequence[LogEntry]) -> Mapping[str, Frame]:
    """`votes`: one row a vote, Choice empty for an abstention. `tallies`: one row a candidate of a count.

    Ballot is a JSON list of the candidates in the order in which the voter read them, Position that of its choice.
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
        "votes": Frame(("Round", "Final", "Voter", "Choice", "Explanation", "Ballot", "Position"), tuple(votes)),
        "tallies": Frame(("Round", "Final", "Candidate", "Votes", "Chosen", "Tied"), tuple(tallies)),
    }
