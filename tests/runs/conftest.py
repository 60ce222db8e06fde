"""Fixtures of several tests of runs: a server that can be mended, one with varied replies, a run to fork."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsim.records.run_files import RunFiles
from agentsim.scenario.load import load
from tests.cli.command_line import trio
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import play_scenario
from tests.runs.island import Mendable


@pytest.fixture
def server() -> Iterator[Mendable]:
    fake = Mendable()
    with fake.in_thread():
        yield fake


@pytest.fixture
def varied() -> Iterator[FakeServer]:
    """Serve replies that vary with the request."""
    with FakeServer(varied_by_schema).in_thread() as running:
        yield running


@pytest.fixture
def parent(tmp_path: Path) -> RunFiles:
    """Play a game of three bots: 3 + 2 pitches and 3 + 2 votes."""
    return play_scenario(load(trio(tmp_path)), tmp_path, env={}, stem="parent").files
