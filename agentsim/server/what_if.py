"""What if: the chance to win before and after a decision, from branches of the run that this server plays.

Before it, the decision is made anew in each branch; after it, it is as it was. Branch k of both has the same chance, so
that the two are compared by pairs: docs/forks.md says how, and what it assumes.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from aiohttp import web

from agentsim.engine.panel import Estimate, Estimates
from agentsim.errors import AgentsimError, UsageError
from agentsim.history.journal import read_journal
from agentsim.history.load import branches_in, load_history
from agentsim.history.record import CONTROL, FINISHED, History
from agentsim.history.run_files import RunFiles
from agentsim.models.keys import environment
from agentsim.report.page import Served, view
from agentsim.runner.drive import played_again
from agentsim.runner.fork import ParentRun, Wanted, of_arms, parent_of
from agentsim.runner.plays import new_play, restored_scenario
from agentsim.runner.session import Session
from agentsim.server import hosting
from agentsim.server.site import STYLE, Site, page
from agentsim.server.steering import acting

AFTER, OTHER = "as_it_was", "other"
MOST_BRANCHES = 200
_ANALYSIS = find_spec("scipy") is not None
_TITLES = {CONTROL: "before it", AFTER: "after it", OTHER: "with the other decision"}


@dataclass
class WhatIf:
    """The branches of one decision that were asked for, and how far they are."""

    parent: ParentRun
    wanted: list[Wanted]
    trouble: str = ""
    task: asyncio.Task[None] | None = None

    @property
    def playing(self) -> bool:
        return self.task is not None and not self.task.done()

    @property
    def why_not(self) -> str:
        """Why it came to no end; "" where it did, or has not yet."""
        broken = self.task is not None and self.task.done() and not self.task.cancelled() and self.task.exception()
        return repr(broken) if broken else self.trouble


def routes(site: Site) -> Iterable[web.RouteDef]:
    """The question about an event or a decision, and its page; both need the experimenter's key."""
    known: dict[tuple[Path, int], WhatIf] = {}  # what was asked of this server, by journal and decision

    async def of_event(request: web.Request) -> web.Response:
        site.guard.require(request)
        files, seq = site.run(request), request.query.get("event", "")
        at = await acting(lambda: asyncio.to_thread(decision_of, files, seq))
        raise web.HTTPSeeOther(f"{request.path}/{at}")

    async def shown(request: web.Request) -> web.Response:
        site.guard.require(request)
        files, at = site.run(request), _number(request)
        parent = await acting(lambda: asyncio.to_thread(parent_of, files, at))
        asked = known.get((files.journal, at))
        values = await acting(lambda: asyncio.to_thread(_values, parent, asked))
        home = request.path.rpartition("/what-if/")[0]
        return page("what_if.html.j2", {"served": Served(STYLE, (), home=home), "at": at, **values})

    async def begun(request: web.Request) -> web.Response:
        site.guard.require(request)
        files, at, form = site.run(request), _number(request), await request.post()
        count, instead = str(form.get("branches", "")), str(form.get("instead", "")).strip()
        if not count.isdecimal() or not 1 <= int(count[:9]) <= MOST_BRANCHES:
            raise web.HTTPBadRequest(text=f"branches: must be a whole number from 1 to {MOST_BRANCHES}.")
        key = files.journal, at
        if (there := known.get(key)) is None or not there.playing:
            found = await acting(lambda: asyncio.to_thread(asked_for, files, at, int(count), instead or None))
            known[key] = found
            found.task = asyncio.create_task(_play(site, found))
        raise web.HTTPSeeOther(request.path)

    return [
        each
        for prefix in ("", "/batches/{batch}")
        for each in (
            web.get(f"{prefix}/runs/{{name}}/what-if", of_event),
            web.get(f"{prefix}/runs/{{name}}/what-if/{{at}}", shown),
            web.post(f"{prefix}/runs/{{name}}/what-if/{{at}}", begun),
        )
    ]


def _number(request: web.Request) -> int:
    at = request.match_info["at"]
    if not at.isdecimal() or len(at) > 9:
        raise web.HTTPNotFound(text="There is no such decision.")
    return int(at)


def decision_of(files: RunFiles, seq: str) -> int:
    """The decision that led to the event of this number, or the last one before it; `UsageError` for no event."""
    recorded = read_journal(files.journal)
    play = new_play(*restored_scenario(recorded), recorded)
    for _ in played_again(play, recorded):
        pass
    play.close()
    if not seq.isdecimal() or not 1 <= int(seq[:9]) <= len(play.log):
        raise UsageError("there is no such event")
    upto = [entry.decision for entry in play.log[: int(seq)]]
    if upto[-1] is not None:
        return upto[-1]
    return max((each for each in upto if each is not None), default=1)


def asked_for(files: RunFiles, at: int, count: int, instead: str | None) -> WhatIf:
    """The branches to be played; raises `UsageError` for a decision that cannot be, and for people's seats."""
    parent = parent_of(files, at)
    if people := [plan.id for plan in parent.scenario.players if plan.name.kind == "web"]:
        raise UsageError(
            f"{', '.join(people)}: a person has the seat, and these branches are played without people. Fork the run "
            "at a later decision, with a model or a bot in each such seat, and ask of the fork."
        )
    entry = parent.contents.entries[parent.ask.wave, parent.ask.place]
    arms: dict[str, Mapping[str, Any]] = {
        AFTER: {"instead": parent.ask.request.answer.model_validate(dict(entry.decision))},
        CONTROL: {},
    }
    if instead is not None:
        arms[OTHER] = {"instead": instead}
    return WhatIf(parent, of_arms(parent, arms, count))


async def _play(site: Site, asked: WhatIf) -> None:
    """One branch after the other, each a run of its own that this server plays."""
    try:
        for each in asked.wanted:
            if each.running:
                continue
            found = await asyncio.to_thread(lambda each=each: each.come_by(env=environment(None)))  # type: ignore[misc] # the default keeps this turn's
            if isinstance(found, Session):
                result = await hosting.host(site, found).ended()
                if result.error is not None and result.status not in FINISHED:
                    asked.trouble = f"{result.files.name}: {result.error}"
                    return
    except AgentsimError as error:
        asked.trouble = str(error)


def share_interval(share: float, games: int) -> tuple[float, float]:
    """The 95% interval of a share of so many games (E. B. Wilson, 1927)."""
    z2 = 1.959964**2
    middle, around = share + z2 / (2 * games), 1.959964 * math.sqrt((share * (1 - share) + z2 / (4 * games)) / games)
    return max(0.0, (middle - around) / (1 + z2 / games)), min(1.0, (middle + around) / (1 + z2 / games))


def chances(histories: Sequence[History], players: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    """By player, the share of games won and its interval; a shared first place is a part of a win for each."""
    found = {}
    for player in players:
        won = 0.0
        for history in histories:
            standings = history.outcome.standings if history.outcome else []
            first = [each.player for each in standings if each.rank == 1]
            won += (player in first) / max(1, len(first))
        share = won / len(histories)
        found[player] = (share, *share_interval(share, len(histories)))
    return found


def _values(parent: ParentRun, asked: WhatIf | None) -> dict[str, Any]:
    """What the page shows: the decision, and by arm the chances that the finished branches give."""
    playing = asked is not None and asked.playing  # before the look: what is over by then is seen
    players = [plan.id for plan in parent.scenario.players]
    entry = parent.contents.entries[parent.ask.wave, parent.ask.place]
    done: dict[str, list[History]] = {}
    for arm in (CONTROL, AFTER, OTHER):
        for files in _branches(parent, arm):
            history = load_history(files.history)
            if history.status in FINISHED:
                done.setdefault(arm, []).append(history)
    by_arm = {arm: chances(histories, players) for arm, histories in done.items()}
    rows = [
        Estimate(f"{player} {_TITLES[arm]}", *(100 * part for part in found[player]))
        for player in players
        for arm, found in by_arm.items()
    ]
    note = "Share of games won, with its interval of 95% (Wilson). " + ", ".join(
        f"{_TITLES[arm]}: {len(histories)} games" for arm, histories in done.items()
    )
    panels = [Estimates("Chance to win", tuple(rows), "% of games", f"{note}.")] if rows else []
    panels += _differences(parent) if len(done) > 1 else []
    tones = {player: place for place, player in enumerate(players)}
    return {
        "name": parent.files.name,
        "decision": entry,
        "said": str(parent.ask.request.answer.model_validate(dict(entry.decision)).model_dump_json()),
        "panels": [view(panel, tones) for panel in panels],
        "playing": playing,
        "trouble": "" if asked is None else asked.why_not,
        "done": {_TITLES[arm]: len(histories) for arm, histories in done.items()},
        "wanted": 0 if asked is None else len(asked.wanted),
        "most": MOST_BRANCHES,
    }


def _branches(parent: ParentRun, arm: str) -> list[RunFiles]:
    """The branches of an arm at this decision whose history is there."""
    at = parent.files.name, parent.ask.index, arm
    return [
        files
        for files, branch in branches_in(parent.files.directory)
        if (branch.of, branch.at, branch.arm) == at and files.history.is_file()
    ]


def _percent(part: float | None) -> float | None:
    return None if part is None else 100 * part


def _differences(parent: ParentRun) -> list[Estimates]:
    """What the decision changed in each player's chance, by pairs of branches with the same chance."""
    if not _ANALYSIS:
        return []
    from agentsim.analysis.arms import comparisons

    found = []
    for comparison in comparisons(parent.files.directory, of=parent.files.name):
        for arm in comparison.arms if comparison.at == parent.ask.index else ():
            rows = tuple(
                Estimate(each.player, 100 * each.mean, _percent(each.low), _percent(each.high))
                for each in arm.effects
                if each.measure == "win"
            )
            if arm.arm in _TITLES and rows:
                note = f"{_TITLES[arm.arm]} less before it, over {arm.pairs} pairs with the same chance; 95%."
                found.append(Estimates(f"What it changed, {_TITLES[arm.arm]}", rows, "percentage points", note))
    return found
