"""Too few file descriptors are a fault of this machine: calls wait, no fallback is taken, no provider is blamed."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectorError

from agentsim.errors import LocalShortage
from agentsim.models import remote
from agentsim.models.clients import Connector
from agentsim.records.journal import read_journal
from agentsim.records.run_files import RunFiles
from agentsim.runs.replay import prove
from tests.cli.command_line import program
from tests.fakes.server import FakeServer
from tests.runs.island import Mendable, journaled, play, resumed, scenario_text, stable

FEW, CALLERS = 64, 100
CROWD = f'[[players]]\nid = "p"\ncount = {CALLERS}\n'
LIMITS = ('game_config.phases=["votes"]', "game_config.rounds=2", f"limits.concurrency={CALLERS}")


@pytest.fixture
def server() -> Iterator[Mendable]:
    fake = Mendable(latency_s=0.03)
    with fake.in_thread():
        yield fake


def under(soft: int, hard: int, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a process with these limits on file descriptors."""
    return subprocess.run(
        words, cwd=cwd, capture_output=True, text=True, check=False, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
    )  # fmt: skip


def run(server: FakeServer, directory: Path, *words: str, soft: int, hard: int) -> subprocess.CompletedProcess[str]:
    (directory / "crowd.toml").write_text(scenario_text(server.url(), CROWD), encoding="utf-8")
    settings = [word for setting in LIMITS for word in ("--set", setting)]
    return under(soft, hard, *program(*words, "--config", "crowd.toml", *settings, "--display", "none"), cwd=directory)


def test_a_hundred_callers_and_64_descriptors_play_the_same_game_fewer_at_once(
    server: Mendable, tmp_path: Path
) -> None:
    done = run(server, tmp_path, "run", "--name", "run", "--no-html", soft=FEW, hard=FEW)
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.splitlines()
    said = re.fullmatch(r"agentsim: ulimit -n is 64: at most (\d+) calls are made at once, not 100; .*", line)
    assert said, line
    assert 16 <= server.most_in_flight <= int(said[1]) < FEW
    assert "(0 failed, 0 re-asked, 0 fallbacks)" in done.stdout
    server.latency_s = 0.0
    whole = play(server.url(), tmp_path / "whole", *LIMITS, players=CROWD)
    assert stable(RunFiles(tmp_path / "logs", "run")) == stable(whole.files)


_ROOM = """
    import asyncio, resource
    from agentsim.runs.process import reserve_descriptors
    from agentsim.models.pacing import connection_slots

    async def main():
        said, room = reserve_descriptors(100), connection_slots()
        print(said, room.tight, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        taken = 0
        while not room.locked():
            await room.acquire()
            taken += 1
        print(taken >= 100)

    asyncio.run(main())
"""


def test_where_the_limit_may_be_raised_it_is_and_nothing_is_said(tmp_path: Path) -> None:
    done = under(FEW, 1024, sys.executable, "-c", textwrap.dedent(_ROOM), cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("None False 1024\nTrue\n", "")


@pytest.mark.slow
def test_the_games_of_a_batch_share_what_there_is(server: Mendable, tmp_path: Path) -> None:
    done = run(server, tmp_path, "batch", "--games", "2", "--jobs", "2", "--json", soft=FEW, hard=FEW)
    assert done.returncode == 0, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("agentsim: ulimit -n is 64: at most ")
    assert server.most_in_flight < FEW
    ended = json.loads(done.stdout)
    assert ended["complete"]
    journals = [read_journal(path) for path in (tmp_path / ended["batch"]).glob("*.jsonl")]
    failed = [t.code for each in journals for e in each.decisions.values() for t in e.attempts if t.code]
    assert (len(journals), failed) == (2, [])


_HOG = """
    import asyncio, os, sys
    from agentsim.models.base import Call, Sampling
    from agentsim.models.remote import Endpoint
    from agentsim.models.remote import RemoteModel
    from agentsim.models.profiles import ProviderSettings, resolve

    async def main(url):
        profile = resolve("lab", {"lab": ProviderSettings(base_url=url)}, {})
        model = RemoteModel("lab/m", profile, Endpoint(url, "key"))
        call, hogs = Call((("user", "Hello."),)), []
        await model.complete(call, Sampling())
        await model.aclose()  # everything is loaded, and nothing is connected
        model._endpoint.open()
        try:
            while True:
                hogs.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            pass
        asyncio.get_running_loop().call_later(0.3, lambda: [os.close(hog) for hog in hogs])
        said = await model.complete(call, Sampling(timeout_s=0.2))
        print(len(hogs) > 20, bool(said.text))
        await model.aclose()

    asyncio.run(main(sys.argv[1]))
"""


def test_a_call_waits_for_its_descriptor_and_is_made_once(server: Mendable, tmp_path: Path) -> None:
    """The deadline of the call begins once it has a descriptor."""
    done = under(FEW, FEW, sys.executable, "-c", textwrap.dedent(_HOG), server.url(), cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("True True\n", "")
    assert len(server.received) == 2


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM], ids=errno.errorcode.get)
def test_without_any_descriptor_the_run_stops_and_nobody_else_is_to_blame(
    server: Mendable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    server.latency_s = 0.0
    whole = play(server.url(), tmp_path, stem="whole")
    connect, left = Connector._create_connection, [0]

    async def short(self: Connector, request: Any, *rest: Any) -> Any:
        left[0] += 1
        if left[0] in {1, 2} or left[0] > 4:
            raise ClientConnectorError(request.connection_key, OSError(code, os.strerror(code)))
        return await connect(self, request, *rest)

    monkeypatch.setattr(Connector, "_create_connection", short)
    monkeypatch.setattr(remote, "_SHORTAGE_S", (0.0, 0.0, 0.0))
    server.received.clear()
    stopped = play(server.url(), tmp_path)
    assert isinstance(stopped.error, LocalShortage)
    assert re.fullmatch(
        rf"no connection can be opened here: {os.strerror(code)} \(ulimit -n is \d+\)", str(stopped.error)
    )
    assert (stopped.error.exit_code, stopped.status) == (1, "failed")
    entries = journaled(stopped.files)
    assert {entry.source for entry in entries} == {"model"}
    assert [attempt.code for entry in entries for attempt in entry.attempts] == [None] * len(entries)
    assert stopped.history["usage"]["failed_calls"] == 0
    assert prove(stopped.files).decisions == len(entries) > 0

    monkeypatch.setattr(Connector, "_create_connection", connect)
    again = resumed(stopped.files)
    assert stable(again.files) == stable(whole.files)
    assert len(server.received) == whole.history["usage"]["calls"], "no call was made twice"
