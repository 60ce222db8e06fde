"""Runs of the shipped configs, for several tests of pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from agentsim.results import RecordedRun, run_in
from agentsim.scenario.load import load
from tests.playing import play_scenario

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.fixture(scope="session")
def run_of_config(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], RecordedRun]:
    """Return a function that plays the bots of a config once a process; tests must not change its files."""
    logs = tmp_path_factory.mktemp("configs")

    @cache
    def play(name: str) -> RecordedRun:
        return run_in(play_scenario(load(CONFIGS / f"{name}.toml"), logs, env={}, stem=name).files)

    return play
