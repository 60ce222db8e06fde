"""Steering: the experimenter's page of a run, to pause it, announce, ask a player, fork it or stop it.

`control` steers a run that this process plays; `guard` checks who may do so.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeVar

from aiohttp import web
from pydantic import ValidationError

from agentsim.engine.steering import Aside
from agentsim.engine.survey import SurveyQuestion
from agentsim.errors import AgentsimError, UsageError, first_objection
from agentsim.models.keys import environment
from agentsim.records.journal import read_journal
from agentsim.records.run_files import RunFiles, is_running
from agentsim.report.page import Served
from agentsim.runs.fork import Change, ForkPoint
from agentsim.runs.game_in_progress import restored_scenario
from agentsim.runs.player_message import messages
from agentsim.runs.replay import is_over
from agentsim.runs.run import Run, RunOptions
from agentsim.server import hosting
from agentsim.server.hosting import HostedRun
from agentsim.server.site import STYLE, Site, page

Form = Mapping[str, str]
T = TypeVar("T")
_Act = Callable[[HostedRun, Form], Awaitable[None] | None]


def routes(site: Site) -> Iterable[web.RouteDef]:
    """Return the routes of the steering page and its forms; each requires the experimenter's key."""

    async def shown(request: web.Request) -> web.Response:
        site.guard.require(request)
        files = site.run(request)
        values = await _acting(lambda: asyncio.to_thread(_state, site, files))
        return page("steer.html.j2", {"served": Served(STYLE, (), home=request.path.rpartition("/")[0]), **values})

    async def done(request: web.Request) -> web.Response:
        site.guard.require(request)
        files, act = site.run(request), request.match_info["act"]
        form: Form = {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
        here = request.path.rpartition("/")[0]
        if act == "fork":
            run = await _acting(lambda: _forked(site, files, form))
            raise web.HTTPSeeOther(f"{here.rpartition('/runs/')[0]}{_page_of(run)}")
        if act == "go-on":
            await _acting(lambda: hosting.resume(site, files, env=environment(None)))
        elif (does := _ACTS.get(act)) is not None:
            if (hosted := site.hosted.get(files.journal)) is None or not hosted.playing:
                raise web.HTTPConflict(text="This server does not play the run now.")
            await _acting(lambda: _acted(does, hosted, form))
        else:
            raise web.HTTPNotFound(text="There is no such form.")
        raise web.HTTPSeeOther(here)

    return [
        each
        for prefix in ("", "/batches/{batch}")
        for each in (
            web.get(f"{prefix}/runs/{{name}}/steer", shown),
            web.post(f"{prefix}/runs/{{name}}/steer/{{act}}", done),
        )
    ]


async def _acting(act: Callable[[], Awaitable[T]]) -> T:
    """Run a steering action and turn its errors into HTTP 400 responses."""
    try:
        return await act()
    except ValidationError as error:
        raise web.HTTPBadRequest(text=": ".join(filter(None, first_objection(error)))) from None
    except AgentsimError as error:
        raise web.HTTPBadRequest(text=str(error)) from None


def _page_of(run: HostedRun) -> str:
    """Return the path of the page to open first: steering if people play, since it has their links, else the run's."""
    return f"/runs/{run.name}{'/steer' if run.people is not None else ''}"


async def _acted(does: _Act, hosted: HostedRun, form: Form) -> None:
    if (later := does(hosted, form)) is not None:
        await later


async def _ask(run: HostedRun, form: Form) -> None:
    options = tuple(line.strip() for line in form.get("options", "").splitlines() if line.strip())
    question = SurveyQuestion(name="question", ask=" ".join(form.get("ask", "").split()), options=options)
    await run.control.ask(Aside(players=(form.get("player", ""),), questions=(question,)))


_ACTS: Mapping[str, _Act] = {
    "pause": lambda run, _form: run.control.pause(),
    "resume": lambda run, _form: run.control.resume(),
    "step": lambda run, _form: run.control.step(),
    "announce": lambda run, form: run.control.announce(form.get("said", "")),
    "ask": _ask,
    "stop": lambda run, _form: run.stop(),
}


def _state(site: Site, files: RunFiles) -> dict[str, object]:
    """Return the values of the page's template."""
    contents = read_journal(files.journal)
    scenario, game = restored_scenario(contents)
    hosted = site.hosted.get(files.journal)
    playing = hosted is not None and hosted.playing
    last = max(contents.decisions.values(), key=lambda record: record.index, default=None)
    return {
        "name": files.name,
        "game": game.title,
        "hosted": hosted if playing else None,
        "people": [] if hosted is None or hosted.people is None else list(hosted.people.seats.values()),
        "base_url": site.base_url,
        "elsewhere": not playing and is_running(files.journal),
        "over": is_over(files),
        "players": [(plan.id, plan.model) for plan in scenario.players],
        "last": None if last is None else {"index": last.index, "player": last.player, "kind": last.kind},
        "said": [(wave, each) for wave, does in sorted(contents.steered.items()) for each in does],
    }


async def _forked(site: Site, files: RunFiles, form: Form) -> HostedRun:
    """Fork a run at a decision with another decision, message or setting, and host the branch."""
    at = form.get("at", "")
    if not at.isdecimal() or len(at) > 9:
        raise UsageError("decision: must be a whole number")
    changes = [line.strip() for line in form.get("set", "").splitlines() if line.strip()]
    words, player, model = form.get("words", "").strip(), form.get("player", ""), form.get("model", "").strip()

    def branch() -> Run:
        point = ForkPoint.of(files, int(at))
        instead = form.get("instead", "").strip() or None
        if words and instead:
            raise UsageError("give other words or another decision, not both")
        if model:
            seats = [plan.id for plan in point.scenario.players]
            if player not in seats:
                raise UsageError(f"there is no player {player[:80]!r} (valid: {', '.join(seats)})")
            changes.append(f"players.{seats.index(player)}.model={json.dumps(model)}")
        decided = messages(files, int(at))[0].swapped(words=words).instead if words else instead
        options = RunOptions(environment(None), served=True)
        return point.branch(options, Change(decided, tuple(changes)), of_several=True)

    return hosting.host(site, await asyncio.to_thread(branch))
