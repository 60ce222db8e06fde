"""Tables of who was what and who claimed what, and panels of them; a role that the log does not tell is empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentsim.engine import LogEntry
from agentsim.engine.panel import Cell, DataTable, Frame, Panel
from agentsim.games.werewolf.village import ROLES, Role
from agentsim.games.werewolf.words import Dealt, Died, Said, Unmasked


def tables(log: Sequence[LogEntry], players: Sequence[str]) -> Mapping[str, Frame]:
    """`players` and `claims`, in the columns that `docs/werewolf.md` promises."""
    roles: dict[str, Role] = {}
    ends: dict[str, tuple[str, int]] = {}
    claimed: list[tuple[int, Said]] = []
    for event, number in ((told.event, (told.round + 1) // 2) for told in log):
        match event:
            case Dealt():
                roles |= {event.player: event.role} | dict.fromkeys(event.pack, event.role)
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
        "players": Frame(("player", "role", "end", "day"), fates),
        "claims": Frame(("day", "player", "role", "claim", "true", "seen", "werewolf", "finding_true"), tuple(claims)),
    }


def panels(log: Sequence[LogEntry], players: Sequence[str]) -> list[Panel]:
    """What the tables come to; no panel without data."""
    fates, claims = tables(log, players).values()
    kinds = [(column, held) for column in (4, 7) for held in (True, False)]  # of `true` and `finding_true`
    truths = {role: [row for row in claims.rows if row[2] == role] for role in ROLES}
    counts = tuple(
        (role, *(sum(row[at] is held for row in rows) for at, held in kinds)) for role, rows in truths.items()
    )
    columns = ("role", "true claims", "false claims", "true findings", "false findings")
    claimed = [DataTable("What was claimed", columns, counts, heat=True)] if claims.rows else []
    return [DataTable("Who was what", fates.columns, fates.rows), *claimed]
