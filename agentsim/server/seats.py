"""Seats: the pages of people who play, one secret link each, and the streams that keep them up to date.

A page holds only the events that its seat has heard and its question. It works without its script.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from aiohttp import web
from markupsafe import Markup

from agentsim.errors import AgentsimError
from agentsim.players.page_form import FieldProblem, questionnaire
from agentsim.players.rendering import as_read, paragraphs, plainly, split_question
from agentsim.players.web import WebQuestion
from agentsim.report.page import Served
from agentsim.server.changes import within
from agentsim.server.people import LEAVABLE, PersonSeat, digest
from agentsim.server.runs import followed
from agentsim.server.seat_panels import NO_PANELS
from agentsim.server.site import STREAM_SCRIPT, STYLE, Site, environment, naming, page, script, style
from agentsim.server.stream import PageAudience, Position, message

SCRIPTS = (STREAM_SCRIPT, script("agentsim.server", "seat.js"))
_BEAT_S = 15.0  # a comment is sent after so long without news, so that no proxy ends the stream
_LIVE = {"waiting", "game", "paused"}
_TOLD_NOTHING = {"waiting", "withdrawn"}  # stages in which the page has no events of the game


def routes(site: Site) -> Iterable[web.RouteDef]:
    """Return the routes of each seat's page, its form and its stream, and register seats as holders of keys."""

    async def show(request: web.Request) -> web.Response:
        return await _page(site, _seat(site, request))

    async def submit(request: web.Request) -> web.Response:
        seat, form = _seat(site, request), await request.post()
        given = {name: [str(text) for text in form.getall(name)] for name in set(form)}
        step = (given.get("seat-step") or [""])[0]  # the hyphen keeps it apart from names of questions and fields
        try:
            await seat.submit(step, given)
        except FieldProblem as problem:
            return await _page(site, seat, given, problem)
        raise web.HTTPSeeOther(seat.path)

    async def stream(request: web.Request) -> web.StreamResponse:
        return await _stream(site, _seat(site, request), request)

    site.guard.holders.append(lambda request: _holder(site, request))
    return [
        web.get("/seat/{token}", show),
        web.post("/seat/{token}", submit),
        web.get("/seat/{token}/stream", stream),
    ]


def _seat(site: Site, request: web.Request) -> PersonSeat:
    seat = site.seats.get(digest(request.match_info["token"]))
    if seat is None:
        raise web.HTTPNotFound(text="There is no such seat. Look whether the link is whole.")
    return seat


def _holder(site: Site, request: web.Request) -> str | None:
    """Return the name of the seat whose link the request uses, or None."""
    seat = site.seats.get(digest(request.match_info.get("token", "")))
    return None if seat is None else f"seat {seat.people.files.journal} {seat.player}"


async def _page(
    site: Site, seat: PersonSeat, given: Mapping[str, Sequence[str]] | None = None, problem: FieldProblem | None = None
) -> web.Response:
    position, rounds, panels, more = Position(), Markup(""), NO_PANELS, False
    if seat.stage in {"game", "paused", "after", "done"}:
        with suppress(AgentsimError):
            async with followed(site, seat.people.files).channel(_audience(seat)) as channel:
                position, rounds, panels = channel.position, channel.transcript, channel.part("panels") or NO_PANELS
            more = not followed(site, seat.people.files).over
    live = seat.stage in _LIVE
    stream = f"{seat.path}/stream?from={position}~{_key(seat)}" if live or more else ""
    served = Served(f"{STYLE}?{naming(style(site))}", SCRIPTS, home="", stream=stream)
    part, leave = _part(seat, given, problem), _leave(seat)
    values = {"served": served, "seat": seat, "stage": seat.stage, "part": part, "leave": leave}
    values |= {"rounds": rounds, "panels": panels}
    values["waits"] = live and seat.question is None
    return page("seat.html.j2", values, status=200 if problem is None else 422)


def _audience(seat: PersonSeat) -> PageAudience:
    return PageAudience(seat.player, seated=True)


def _key(seat: PersonSeat) -> str:
    """Return a key of the part of the page beside the transcript, which is rendered again if the key changes."""
    asked = seat.question
    here = "-".join(map(str, seat.people.here)) if seat.stage == "waiting" else ""
    return f"{seat.stage}-{asked.ask.index if asked else here}"


def _part(
    seat: PersonSeat, given: Mapping[str, Sequence[str]] | None = None, problem: FieldProblem | None = None
) -> Markup:
    """Render the part of the page that depends on what the person has to do."""
    stage, table, asked = seat.stage, seat.people.table, seat.question
    values: dict[str, Any] = {"seat": seat, "stage": stage, "given": given or {}, "problem": problem, "asked": None}
    values |= {"people": seat.people, "table": table, "fields": ()}
    if stage in {"before", "after"}:
        values["fields"] = questionnaire(table.before if stage == "before" else table.after)
    elif stage == "game" and asked is not None:
        left = None if asked.ends is None else max(0, round(asked.ends - asyncio.get_running_loop().time()))
        values |= {"asked": asked, "fields": asked.page.fields, "left": left, **_words(asked)}
    return Markup(_macros().part(values))  # noqa: S704 - made by our templates


def _leave(seat: PersonSeat) -> Markup:
    """Render the button that withdraws the person, hidden in stages in which there is nothing to leave."""
    return Markup(_macros().leave(seat, seat.stage in LEAVABLE))  # noqa: S704 - made by our templates


def _macros() -> Any:
    return environment().get_template("seat_part.html.j2").module


def _words(asked: WebQuestion) -> dict[str, Any]:
    """Return the prompt in sections for a person: present state, question, rules, and history."""
    prompt, words = asked.ask.prompt(), asked.page.with_labels
    question = _rows(split_question(line)[0] for line in prompt.question)
    return {
        "state": [(row if foreign else words(row), foreign) for row, foreign in _rows(prompt.state)],
        "question": [(row if foreign else words(row), foreign) for row, foreign in question],
        "rules": [(words(plainly(line)), False) for line in paragraphs(asked.messages[0].segments)],
        "history": _rows(prompt.history),
    }


def _rows(lines: Iterable[str]) -> list[tuple[str, bool]]:
    """Return the lines, each with whether it holds words of other players."""
    return [row for line in paragraphs(lines) for row in as_read(line)]


async def _stream(site: Site, seat: PersonSeat, request: web.Request) -> web.StreamResponse:
    """Stream the events that the seat hears, and its question, to its page."""
    position, _, key = (request.headers.get("Last-Event-ID") or request.query.get("from", "")).partition("~")
    here = Position.read(position)
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"})
    try:
        with site.guard.stream(request):
            async with followed(site, seat.people.files).channel(_audience(seat)) as channel:
                await response.prepare(request)
                with suppress(ConnectionResetError):
                    await response.write(b"retry: 500\n\n")
                    while True:
                        asked, changed = seat.next_change, channel.next_change
                        left, now = seat.stage == "withdrawn", _key(seat)
                        told = seat.stage not in _TOLD_NOTHING
                        there, html = (channel.position, channel.since(here)) if told else (here, "")
                        ends = left or (seat.stage not in _LIVE and followed(site, seat.people.files).over)
                        if html:
                            await response.write(message(f"{there}~{key}", html))
                            await asyncio.sleep(0)  # lets all streams send the event before a question is rendered
                        if now != key:
                            await response.write(message(f"{there}~{now}", f"{_part(seat)}{_leave(seat)}"))
                        here, key = there, now
                        if ends:
                            await response.write(b"event: end\ndata:\n\n")
                            break
                        waits = [asyncio.create_task(each) for each in (asked.wait(), within(changed, _BEAT_S))]
                        try:
                            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                        finally:
                            for each in waits:
                                each.cancel()
                        if waits[1] in done and not waits[1].result():
                            await response.write(b": here\n\n")
    except AgentsimError as error:
        raise web.HTTPConflict(text=f"The game cannot be shown: {error}") from None
    return response
