"""Small games of Agent Island for tests of runs, with seats on a fake server that can be mended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentsim.records.journal import DecisionRecord, read_journal
from agentsim.records.run_files import RunFiles
from agentsim.runs.replay import without_volatile
from agentsim.runs.run import RunResult
from agentsim.runs.watcher import Watcher
from agentsim.scenario.load import load
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Received, Reply
from tests.playing import play_scenario, resume_run

__all__ = ["BOTS", "FOUR", "THREE", "Mendable", "decided", "journaled", "play", "resumed", "scenario_text", "stable"]

FOUR = "".join(f'[[players]]\nid = "{player}"\n' for player in "ABCD")
"""Four players of the default model: 4 + 3 + 2 pitches, 4 + 3 + 2 votes."""
THREE = FOUR.replace('[[players]]\nid = "D"\n', "")
"""Three of them: 3 + 2 pitches, 3 + 1 votes; a fallback is too much for so few decisions."""
BOTS = "".join(f'[[players]]\nid = "{player}"\nmodel = "bot/random"\n' for player in "BCD")


class Mendable(FakeServer):
    """A server that plays the scenario `broken` for all requests, unless it is None."""

    broken: str | None = None

    def __init__(self, reply: Reply = varied_by_schema, **settings: Any) -> None:
        super().__init__(reply, **settings)

    def _play(self, connection: Any, behaviour: str, name: str, received: Received) -> None:
        super()._play(connection, self.broken or behaviour, name, received)


def scenario_text(url: str, players: str = FOUR, head: str = "") -> str:
    return (
        f'game = "agent_island"\nseed = 5\n{head}\n'
        '[defaults]\nmodel = "fake/echo"\nretry_wait_s = 0.0\nrate_limit_wait_s = 0.01\n'
        f'[providers.fake]\nbase_url = "{url}"\n{players}'
    )


def play(
    url: str,
    logs: Path,
    *overrides: str,
    players: str = FOUR,
    stem: str = "run",
    watcher: Watcher | None = None,
) -> RunResult:
    """Run a small island in this process."""
    logs.mkdir(parents=True, exist_ok=True)
    config = logs / f"{stem}.toml"
    config.write_text(scenario_text(url, players), encoding="utf-8")
    return play_scenario(load(config, overrides=overrides), logs, env={}, stem=stem, watcher=watcher)


def resumed(files: RunFiles, **options: Any) -> RunResult:
    """Resume a run."""
    again = resume_run(files, env={}, **options)
    assert again.how != "unchanged", "the run was finished"
    return again


def stable(files: RunFiles) -> str:
    """Return the history as text, without the parts that may differ between two executions of one game."""
    return json.dumps(without_volatile(json.loads(files.history.read_text(encoding="utf-8"))))


def journaled(files: RunFiles) -> list[DecisionRecord]:
    """Return the decisions on disk, in the order of the rules."""
    entries = read_journal(files.journal).decisions
    return [entries[key] for key in sorted(entries)]


def decided(body: dict[str, Any]) -> tuple[str, str]:
    """Return the player and the kind of a request: ("C", "vote")."""
    system, user = (str(message["content"]) for message in body["messages"][:2])
    player = system.partition("You are player ")[2].partition(".")[0]
    return player, str(body["response_format"]["json_schema"]["name"]) if "response_format" in body else user
