"""A society of models behind a loopback server."""

from __future__ import annotations

from pathlib import Path

from agentsim.scenario.load import load
from agentsim.scenario.scenario import Scenario

_SCENARIO = """
game = "society"
seed = 1
[defaults]
model = "lab/loopback"
max_tokens = 500
reasks = 0
[game_config]
days = {days}
[limits]
concurrency = {concurrency}
[providers.lab]
base_url = "{url}"
warm = "{warm}"
[[players]]
id = "agent"
count = {agents}
"""


def served(
    directory: Path, url: str, *, agents: int, days: int, concurrency: int = 100, warm: str = "auto"
) -> Scenario:
    """Write the scenario into the directory and load it."""
    config = directory / "society.toml"
    text = _SCENARIO.format(days=days, concurrency=concurrency, url=url, warm=warm, agents=agents)
    config.write_text(text, encoding="utf-8")
    return load(config)
