"""Playing a row of the table through the command line, and the checks that hold for every run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentsim.models.profiles import WireName
from agentsim.records.history import History
from tests.cli.command_line import Said, agentsim
from tests.fakes.faults import FaultyServer
from tests.matrix.rows import KEY, Row

__all__ = ["ENV", "GAMES", "Played", "config", "events", "history_of", "play", "server_for", "stable"]

GAMES = {
    "agent_island": "",
    "auction": """
format = "sealed_first_price"
items.scenario = "two"
items.items = [
    { Name = "Compass", Quality = 61, IsRequired = true },
    { Name = "Kettle", Quality = 12, IsRequired = false },
]
""",
}


# The accounts of OpenAI and Anthropic must not be sent to this server.
ENV = {
    "LAB_KEY": KEY,
    "OPENAI_API_KEY": "sk-canary-openai",
    "OPENAI_ORG_ID": "org-canary",
    "OPENAI_PROJECT_ID": "project-canary",
    "OPENAI_CUSTOM_HEADERS": "X-Canary: canary",
    "ANTHROPIC_API_KEY": "sk-ant-canary",
    "ANTHROPIC_AUTH_TOKEN": "canary",
    "ANTHROPIC_CUSTOM_HEADERS": "X-Canary: canary",
}


@dataclass(frozen=True)
class Played:
    """The result of a command."""

    said: Said
    history: dict[str, Any]
    logs: Path


def config(
    game: str, url: str, directory: Path, persona: str = "", *, hurried: bool = False, wire: WireName = "chat"
) -> Path:
    """Write a scenario of three seats of one model that needs a key, and return its path."""
    players = "".join(f'[[players]]\nid = "{seat}"\nprompt = "You have seat {seat}. {persona}"\n' for seat in "ABC")
    if hurried:
        players = players.replace('id = "B"\n', 'id = "B"\ntimeout_s = 0.1\n')
    path = directory / "scenario.toml"
    path.write_text(
        f'game = "{game}"\nseed = 5\n[game_config]{GAMES[game]}\n'
        "[limits]\nmax_fallback_rate = 1.0\n"
        '[defaults]\nmodel = "lab/echo"\nretry_wait_s = 0.0\nrate_limit_wait_s = 0.01\n'
        f'[providers.lab]\nbase_url = "{url}"\napi_key_env = "LAB_KEY"\nwire = "{wire}"\n{players}',
        encoding="utf-8",
    )
    return path


@contextmanager
def server_for(row: Row) -> Iterator[FaultyServer]:
    server = FaultyServer(row.fault, None if row.everybody else "B", row.first, row.last)
    with server.in_thread():
        yield server


def play(game: str, row: Row, url: str, directory: Path, wire: WireName = "chat") -> Played:
    """Play a row with `agentsim run` and check the result."""
    path = config(game, url, directory, row.persona, hurried=row.hurried, wire=wire)
    overrides = [word for setting in row.settings for word in ("--set", setting)]
    words = ("run", "--config", path.name, "--name", "run", "--display", "plain", "--include-prompts", *overrides)
    return checked(agentsim(*words, cwd=directory, env=ENV), directory)


def checked(said: Said, directory: Path) -> Played:
    """Check that there is no traceback and no key, and that the history fits its format."""
    logs = directory / "logs"
    streams = said.out + said.err
    assert "Traceback" not in streams
    assert "canary" not in streams
    assert KEY[-8:] not in streams
    files = sorted(logs.iterdir())
    assert [file.suffix for file in files] == [".html", ".json", ".jsonl"], said.err
    for file in files:
        content = file.read_text(encoding="utf-8")
        assert "canary" not in content, f"the key is in {file.name}"
        assert KEY[-8:] not in content, f"the end of the key is in {file.name}"
    return Played(said, history_of(directory), logs)


def history_of(directory: Path) -> dict[str, Any]:
    text = (directory / "logs" / "run.json").read_text(encoding="utf-8")
    History.model_validate_json(text, strict=True)
    loaded: dict[str, Any] = json.loads(text, parse_constant=_no_number)
    return loaded


def _no_number(word: str) -> None:
    raise AssertionError(f"{word} in a history")


def events(history: dict[str, Any]) -> list[Any]:
    """Return the events, without the decisions behind them."""
    return [
        [event[key] for key in ("kind", "content", "data")] for part in history["rounds"] for event in part["events"]
    ]


def stable(history: dict[str, Any]) -> str:
    """Return the history as JSON, without the parts that may differ between two executions of one game."""
    return json.dumps({key: value for key, value in history.items() if key != "volatile"})
