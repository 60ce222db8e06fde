"""Streams of open pages: what happens while one looks, writes or draws is sent, and at once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp.web import StreamResponse

from agentsim.records.run_files import RunFiles
from agentsim.runs.follower import Follower
from agentsim.server import hosting, seats
from agentsim.server.people import PersonSeat
from agentsim.server.stream import Channel, PageAudience, Position
from tests.server.test_people import Client, answer_all, asked, island, send, served

AT_ONCE_S = 5  # a stream looks again every 15 seconds


def test_what_changes_just_after_a_seats_stream_has_looked_is_sent_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, quiet = seats._key, asyncio.Event()

    async def does(client: Client, run: hosting.HostedRun) -> None:
        await send(client, run, "A", step="agree")
        assert run.people is not None
        seat = run.people.seats["A"]

        def key(of: PersonSeat) -> str:
            found = looked(of)
            if quiet.is_set() and not seat.left:
                seat.people.file.change("A", withdrawn_at="2026-01-01T00:00:00Z")
                seat.notify()
            return found

        monkeypatch.setattr(seats, "_key", key)
        async with asyncio.timeout(AT_ONCE_S), client.get(f"{seat.path}/stream?from=") as stream:
            await asyncio.sleep(1)  # nothing else is told by then
            quiet.set()
            seat.notify()
            assert "event: end" in await stream.text()

    served(tmp_path, island("web", "web", "bot/random"), does)


def test_what_is_told_while_a_watchers_stream_is_written_is_sent_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message, write = Channel.message, StreamResponse.write
    early, late = b"data: early\n\n", b"data: late\n\n"
    channels: list[Channel] = []
    more = [b""]

    def noted(channel: Channel, position: Position) -> tuple[Position, bytes]:
        channels.append(channel)
        here, news = message(channel, position)
        return here, news + more[-1]

    async def writes(response: StreamResponse, data: Any) -> None:
        await write(response, data)
        if data == early:
            more.append(late)
            channels[-1].notify()

    monkeypatch.setattr(Channel, "message", noted)
    monkeypatch.setattr(StreamResponse, "write", writes)

    async def does(client: Client, run: hosting.HostedRun) -> None:
        await send(client, run, "A", step="agree")
        async with asyncio.timeout(AT_ONCE_S), client.get("/runs/run/stream?from=") as stream:
            await asked(run, "A")
            await asyncio.sleep(1)  # nothing else is told by then
            more.append(early)
            channels[-1].notify()
            assert await stream.content.readuntil(late)

    served(tmp_path, island("web", "bot/random", "bot/random"), does)


def test_a_stream_that_is_read_slowly_has_the_end_of_the_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, slow, over = StreamResponse.write, asyncio.Event(), asyncio.Event()

    async def waits(response: StreamResponse, data: Any) -> None:
        if slow.is_set() and data.startswith(b"id:"):
            await over.wait()
        await write(response, data)

    async def does(client: Client, run: hosting.HostedRun) -> None:
        await send(client, run, "A", step="agree")
        assert run.people is not None
        seat = run.people.seats["A"]
        async with client.get(f"{seat.path}/stream?from=") as stream:
            await asked(run, "A")
            slow.set()
            await answer_all(client, run, "A", "hello")
            await run.ended()
            while "data-stream" in await (await client.get(seat.path)).text():  # noqa: ASYNC110 - its own pace
                await asyncio.sleep(0.05)
            over.set()
            assert seat.record.code in await stream.text()

    monkeypatch.setattr(StreamResponse, "write", waits)
    served(tmp_path, island("web", "bot/random", "bot/random"), does)


def test_what_is_told_while_a_message_is_made_is_lost_to_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events are taken in by a thread of their own, beside the streams that look."""
    channel = Channel(Follower(RunFiles(tmp_path, "run")), PageAudience())
    since = Channel.since

    def told(of: Channel, position: Position) -> str:
        made = since(of, position)
        of._pieces.append("second")  # type: ignore[arg-type] # as `tell` does it
        of._messages = {}
        return made

    channel._pieces.append("first")  # type: ignore[arg-type] # the same
    beginning = Position(channel.position.epoch)
    with monkeypatch.context() as patch:
        patch.setattr(Channel, "since", told)
        channel.message(beginning)
    here, sent = channel.message(beginning)
    here, more = channel.message(here)
    assert b"second" in sent + more
    channel._pieces.append("third")  # type: ignore[arg-type] # the messages of before are still kept
    assert b"third" in channel.message(beginning)[1]
