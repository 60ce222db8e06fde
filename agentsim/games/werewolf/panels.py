"""Tables of roles and claims, and panels of them. A role that the log does not tell is empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agentsim.engine import LoggedEvent
from agentsim.engine.panel import Cell, Chart, DataTable, Frame, Overview, Panel, Series, TurnedAt
from agentsim.engine.truth import Truth
from agentsim.engine.wording import listed
from agentsim.games.werewolf.state import ROLES, TEAMS, Role
from agentsim.games.werewolf.words import Dealt, Died, Said, Unmasked, Voted

FACTS = {
    "role": "the role of the player, secret until the player dies",
    "died": "the player who dies next",
    "vote": "the player for whom the player votes by day next",
    "team": "the team that wins",
}


def truths(log: Sequence[LoggedEvent], players: Sequence[str]) -> Iterator[Truth]:
    """Yield the roles, deaths, votes of days, and the team that won."""
    shown: dict[str | None, int] = {}
    for at, event in enumerate((told.event for told in log), start=1):
        if isinstance(event, Unmasked):
            shown = {**dict.fromkeys(players, at), **shown}
        elif isinstance(event, Died) and event.role:
            shown[event.victim] = at
    for at, event in enumerate((told.event for told in log), start=1):
        match event:
            case Dealt(player=player, role=role):
                yield Truth("role", role, at, player, lasting=True, public=shown.get(player))
            case Died(victim=str(victim)):
                yield Truth("died", victim, at, public=at)
            case Voted(at="day", votes=votes):
                yield from (Truth("vote", target, at, voter, public=at) for voter, target in votes.items())
            case Unmasked(winners=str(winners)):
                yield Truth("team", winners, at, public=at)
            case _:
                pass


def tables(log: Sequence[LoggedEvent], players: Sequence[str]) -> Mapping[str, Frame]:
    """Return `players` and `claims`, with the columns that `docs/werewolf.md` documents."""
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


def panels(log: Sequence[LoggedEvent], players: Sequence[str]) -> list[Panel]:
    """Return the tables of roles and, if there are claims, the counts of true and false ones."""
    fates, claims = tables(log, players).values()
    kinds = [(column, held) for column in (4, 7) for held in (True, False)]  # of `true` and `finding_true`
    truths = {role: [row for row in claims.rows if row[2] == role] for role in ROLES}
    counts = tuple(
        (role, *(sum(row[at] is held for row in rows) for at, held in kinds)) for role, rows in truths.items()
    )
    columns = ("role", "true claims", "false claims", "true findings", "false findings")
    claimed = [DataTable("What was claimed", columns, counts, heat=True)] if claims.rows else []
    return [DataTable("Who was what", fates.columns, fates.rows), *claimed]


def overview(log: Sequence[LoggedEvent], players: Sequence[str]) -> Overview:
    """Return the number of living players of each team, by night and day, once the roles are known."""
    ended = next((told.event for told in log if isinstance(told.event, Unmasked)), None)
    if ended is None:
        return Overview()
    deaths = {at: told.event for at, told in enumerate(log) if isinstance(told.event, Died) and told.event.victim}
    fell, rounds = {event.victim: log[at].round for at, event in deaths.items()}, tuple(range(log[-1].round + 1))
    lines, verdict = [], ended.heading
    for team in dict.fromkeys(TEAMS.values()):
        members = [player for player, role in ended.roles.items() if TEAMS[role] == team]
        lines.append(Series(team, tuple(float(sum(fell.get(each, at + 1) > at for each in members)) for at in rounds)))
        if team == ended.winners:
            verdict += f": {listed(members)}; {sum(each not in fell for each in members)} of {len(members)} alive"
    x = ("start", *(f"{'night' if at % 2 else 'day'} {(at + 1) // 2}" for at in rounds[1:]))
    chart = Chart("Players alive by team", "line", x, tuple(lines), rounds=rounds)
    why, turns = _why(deaths.values()), tuple(_turns(deaths))
    return Overview(chart, verdict=verdict, why=why, turns=turns, labels=dict(ended.roles))


def _why(deaths: Iterable[Died]) -> str:
    """Say whom the village hanged, and which players with a special role the werewolves killed."""
    hanged = [f"{died.victim} ({died.role})" for died in deaths if died.at == "day"]
    killed = [f"the {died.role} ({died.victim})" for died in deaths if died.at == "night" and died.role != "villager"]
    said = f"The village hanged {listed(hanged) or 'no one'}."
    return said + (f" The werewolves killed {listed(killed)}." if killed else "")


def _turns(deaths: Mapping[int, Died]) -> Iterator[TurnedAt]:
    """Yield the first hanging of a werewolf, the death of the seer, and the last death, which decided."""
    for role, what in (("werewolf", "First werewolf found"), ("seer", "The seer is lost")):
        yield from [TurnedAt(at, what, f"{died.victim}") for at, died in deaths.items() if died.role == role][:1]
    for at, died in [*deaths.items()][-1:]:
        yield TurnedAt(at, "Decided", f"by the death of {died.victim}, a {died.role}")
