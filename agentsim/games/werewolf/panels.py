"""Tables of who was what, what was claimed and whether it was true, and who voted for whom; panels made of them.

Of a log that one player heard they hold what that player could know: a role that it was not told is empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentsim.engine import LogEntry
from agentsim.engine.panel import Cell, DataTable, Frame, Panel
from agentsim.games.werewolf.events import Dealt, Died, Said, Unmasked, Voted
from agentsim.games.werewolf.village import ROLES, Role


def tables(log: Sequence[LogEntry], players: Sequence[str]) -> Mapping[str, Frame]:
    """`players`, `claims` and `votes`, in the columns that `docs/werewolf.md` promises."""
    roles: dict[str, Role] = {}
    ends: dict[str, tuple[str, int]] = {}
    votes: list[tuple[Cell, ...]] = []
    claimed: list[tuple[int, Said]] = []
    for event, number in ((told.event, (told.round + 1) // 2) for told in log):
        match event:
            case Dealt():
                roles |= {event.player: event.role} | dict.fromkeys(event.pack, event.role)
            case Voted():
                votes += [(number, event.at, voter, target) for voter, target in event.votes.items()]
            case Said(claim=str()):
                claimed.append((number, event))
            case Died(victim=str(victim), role=role) if role:
                roles[victim], ends[victim] = role, ("killed" if event.at == "night" else "hanged", number)
            case Unmasked():
                roles |= event.roles
    claims: list[tuple[Cell, ...]] = []
    for number, said in claimed:
        role, truth = roles.get(said.speaker), roles.get(said.seen or "")
        finding = said.werewolf == (truth == "werewolf") if truth else None
        seen = (said.seen, said.werewolf if said.seen else None, finding)
        claims.append((number, said.speaker, role, said.claim, said.claim == role if role else None, *seen))
    fates = tuple((each, roles.get(each), *ends.get(each, (None, None))) for each in players)
    return {
        "players": Frame(("player", "role", "end", "number"), fates),
        "claims": Frame(("day", "player", "role", "claim", "true", "seen", "werewolf", "finding_true"), tuple(claims)),
        "votes": Frame(("number", "at", "voter", "target"), tuple(votes)),
    }


def panels(frames: Mapping[str, Frame]) -> list[Panel]:
    """What the tables come to; no panel without data."""
    fates, claims = frames["players"], frames["claims"].rows
    out: list[Panel] = [DataTable("Who was what", fates.columns, fates.rows)]
    kinds = [(place, held) for place in (4, 7) for held in (True, False)]  # `true` and `finding_true`, as they are
    counts: list[tuple[Cell, ...]] = [
        (role, *(sum(row[2] == role and row[place] is held for row in claims) for place, held in kinds))
        for role in ROLES
    ]
    columns = ("role", "true claims", "false claims", "true findings", "false findings")
    return [*out, DataTable("What was claimed", columns, tuple(counts), heat=True)] if claims else out
