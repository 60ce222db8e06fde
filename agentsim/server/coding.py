"""Coding: the page on which a person codes units of games, one after the other, and sees no other coder's codes.

Its server has no page of a run, which would show models and judges. An answer is on disk before the next unit comes.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any

from aiohttp import web

from agentsim.engine.request import Ask
from agentsim.errors import AgentsimError, DecisionError, Interrupted
from agentsim.lazy import dataclass
from agentsim.players.page_form import FieldProblem, Form, PageForm
from agentsim.report.page import Served
from agentsim.server import static
from agentsim.server.address import Address
from agentsim.server.app import make_app
from agentsim.server.people import digest
from agentsim.server.serving import signals
from agentsim.server.site import STYLE, Site, naming, page, style
from agentsim.studies.coding import PERSON, CodedGame, CodingPlan, record_of_person, unit_of

_TOLD_S = 3.0  # the most seconds that the last page is waited for


@dataclass
class Desk:
    """A person's place: the units that are left, in the drawn order.

    `done` is set when none is left, `told` when a page has said so.
    """

    plan: CodingPlan
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    done: asyncio.Event = field(default_factory=asyncio.Event)
    told: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        asks = {game.files.name: {unit_of(ask).anchor: ask for ask in self.plan.asks(game)} for game in self.plan.games}
        coded = {game.files.name: self.plan.coded(game, PERSON) for game in self.plan.games}
        chosen = [(game, asks[unit.run][unit.anchor]) for game, unit in self.plan.chosen]
        self.total = len(chosen)
        self.left = [(game, ask) for game, ask in chosen if ask.place not in coded[game.files.name]]
        self._mark()

    @property
    def path(self) -> str:
        """The path of the page, whose last part is secret."""
        return f"/code/{self.token}"

    @property
    def current(self) -> Ask | None:
        """The question about the next unit, or None."""
        return self.left[0][1] if self.left else None

    def submit(self, given: Mapping[str, Sequence[str]]) -> None:
        """Record the codes that a page sent, unless they are of another unit than the current one.

        Raises `FieldProblem` if an answer is not legal.
        """
        if not self.left or list(given.get("code-unit", ())) != [_key(self.left[0][1])]:
            return  # a form that was sent twice
        game, ask = self.left[0]
        form = Form(ask.request)
        answers = PageForm(form).answered(given)
        try:
            reading = ask.request.parse(json.dumps(answers, ensure_ascii=False))
            ask.request.check(reading.decision)
        except DecisionError as error:
            raise FieldProblem("", form.reason(str(error))) from None
        self._record(game, ask, reading.decision)
        del self.left[0]
        self._mark()

    def _record(self, game: CodedGame, ask: Ask, coded: Any) -> None:
        journal = self.plan.open(game, PERSON, person=True)
        try:
            if (ask.wave, ask.place) not in journal.contents.decisions:
                journal.append_decision(record_of_person(ask, coded), write_now=True)
                journal.sync()
        finally:
            journal.close()

    def _mark(self) -> None:
        if not self.left:
            self.done.set()


def _key(ask: Ask) -> str:
    return f"{unit_of(ask).run} {unit_of(ask).anchor}"


def routes(desk: Desk) -> Callable[[Site], Iterable[web.RouteDef]]:
    """Return the part of a site that has the page of a desk."""

    def of(site: Site) -> Iterable[web.RouteDef]:
        def require(request: web.Request) -> None:
            if digest(request.match_info["token"]) != digest(desk.token):
                raise web.HTTPNotFound(text="There is no such page. Look whether the link is whole.")

        async def shown(request: web.Request) -> web.Response:
            require(request)
            return _page(site, desk)

        async def sent(request: web.Request) -> web.Response:
            require(request)
            form = await request.post()
            given = {name: [str(text) for text in form.getall(name)] for name in set(form)}
            try:
                desk.submit(given)
            except FieldProblem as problem:
                return _page(site, desk, given, problem)
            except AgentsimError as error:
                raise web.HTTPConflict(text=f"Not recorded: {error}") from None
            raise web.HTTPSeeOther(desk.path)

        site.guard.holders.append(
            lambda request: "coder" if digest(request.match_info.get("token", "")) == digest(desk.token) else None
        )
        return [web.get("/code/{token}", shown), web.post("/code/{token}", sent)]

    return of


def _page(
    site: Site, desk: Desk, given: Mapping[str, Sequence[str]] | None = None, problem: FieldProblem | None = None
) -> web.Response:
    served = Served(f"{STYLE}?{naming(style(site))}", (), home="")
    ask = desk.current
    values: dict[str, Any] = {"served": served, "desk": desk, "book": desk.plan.codebook, "unit": None, "fields": ()}
    if ask is not None:
        fields = PageForm(Form(ask.request)).fields
        values |= {"unit": unit_of(ask), "key": _key(ask), "fields": fields}
    else:
        desk.told.set()
    values |= {"given": given or {}, "problem": problem, "coded": desk.total - len(desk.left)}
    return page("coding.html.j2", values, status=200 if problem is None else 422)


async def coded_in_browser(
    plan: CodingPlan,
    at: Address,
    said: Callable[[str], object],
    judges: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> None:
    """Serve a person's page, with judges at work meanwhile, until all is coded or a signal comes.

    `said` gets the link. Raises `Interrupted` after a signal, and the error that stopped the judges once the person is
    done.
    """
    with at.bound() as listening, signals() as received:
        desk, site = Desk(plan), Site(Path())
        runner = web.AppRunner(make_app(site, (static.routes, routes(desk))), access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        at_work = None if judges is None else asyncio.create_task(judges())
        stopped = asyncio.create_task(received.get())
        try:
            await web.SockSite(runner, listening).start()
            said(f"{at.local(listening)}{desk.path}")
            await asyncio.wait([asyncio.create_task(desk.done.wait()), stopped], return_when=asyncio.FIRST_COMPLETED)
            if at_work is not None:
                await asyncio.wait([at_work, stopped], return_when=asyncio.FIRST_COMPLETED)
            if not stopped.done():
                with suppress(TimeoutError):
                    await asyncio.wait_for(desk.told.wait(), _TOLD_S)
            if stopped.done():
                raise Interrupted("stopped by a signal", signal_number=stopped.result())
            if at_work is not None:
                await at_work
        finally:
            stopped.cancel()
            if at_work is not None and not at_work.done():
                at_work.cancel()
                with suppress(asyncio.CancelledError, AgentsimError):
                    await at_work
            await runner.cleanup()
