"""Runs of the configs that ship, which several tests of pages look at."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from agentsim.results import Run, run_in
from agentsim.runner.session import begin
from agentsim.scenario.load import load

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.fixture(scope="session")
def run_of_config(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """Plays the bots of a config once a process; no test changes the run's journal or history."""
    logs = tmp_path_factory.mktemp("configs")

    @cache
    def play(name: str) -> Run:
        return run_in(begin(load(CONFIGS / f"{name}.toml"), logs, env={}, stem=name).files)

    return play
