"""Each game in progress in tmux, at 80 and 120 columns, as golden text: `python -m tests.cli.test_in_progress`.

The command and the terminal are real. Two players are models of a server on loopback that holds back one call, so the
game stands still; times are masked.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.cli.command_line import ROOT, program
from tests.fakes.replies import envelope, first_by_schema
from tests.fakes.server import FakeServer, Raw

GOLDEN = Path(__file__).parent / "golden"
GAMES = {
    "agent_island_bots": ("random1", "grudge2", 8, ()),
    "auction": ("truthful1", "sniper1", 5, ()),
    "market_bots": ("miller1", "farmer2", 6, ()),
    "monopoly_bots": ("Shark", "Turtle", 6, ("game_config.max_turns=60",)),
    "smith_1962": ("buyer1", "seller1", 6, ("game_config.experiment.period_rounds=10",)),
    "society_bots": ("agent1", "agent2", 9, ()),
    "werewolf_bots": ("candid1", "candid3", 4, ()),
}
"""The two model players of each config, the held call of the first, and other settings, which shorten games whose
remaining time would have two digits of minutes.
"""
WIDTHS = 80, 120
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9\d|10\d)(?:;\d+)*m")


def server(last: int, held: Event) -> FakeServer:
    """Return a server that holds call `last` of `echo` and sets `held`; the first replies of `gamma` are unreadable."""
    calls = Counter[str]()

    def latency(body: Mapping[str, Any]) -> float:
        calls[body["model"]] += 1
        if body["model"] != "echo" or calls["echo"] < last:
            return 0.0
        held.set()
        return 3600.0

    def reply(body: Mapping[str, Any]) -> Raw:
        said = re.sub(r'"text \w+"', '"I say what I think."', first_by_schema(body))
        unreadable = body["model"] == "gamma" and calls["gamma"] <= 2
        completion = envelope("I would rather not say." if unreadable else said, model=body["model"])
        return Raw(body=json.dumps({**completion, "usage": {"prompt_tokens": 4000, "completion_tokens": 40}}))

    return FakeServer(reply, latency_s=latency)


class Tmux:
    """A tmux server whose panes play games until it is killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.held: dict[str, Event] = {}

    def __call__(self, *words: str) -> str:
        command = ["tmux", "-u", "-f", "/dev/null", "-S", str(self.folder / "socket"), *words]
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8"}
        return subprocess.run(command, env=env, capture_output=True, check=True, encoding="utf-8", timeout=60).stdout

    def play(self, config: str, width: int, url: str, *env: str) -> None:
        """Start a game in a pane of this width."""
        echo, gamma, _, more = GAMES[config]
        prices = [f'prices."lab/{name}".{each}' for name in ("echo", "gamma") for each in ("input=0", "output=20")]
        settings = f"players.{echo}.model=lab/echo", f"players.{gamma}.model=lab/gamma", f"providers.lab.base_url={url}"
        name = "".join([config, str(width), *env])
        command = program("run", str(ROOT / "configs" / f"{config}.toml"), "--name", "run-1", "--seed", "7",
                          "--logs-dir", str(self.folder / name), "--max-cost", "20")  # fmt: skip
        command += [word for each in (*settings, *prices, *more) for word in ("--set", each)]
        size = ("-x", str(width), "-y", "30")
        self("new-session", "-d", "-s", name, *size, "env", *env, *command, ";", "set-option", "remain-on-exit", "on")

    def end(self) -> None:
        """End all games and wait until their processes are gone."""
        games = [Path("/proc", pid) for pid in self("list-panes", "-a", "-F", "#{pane_pid}").split()]
        self("kill-server")
        until = time.monotonic() + 30
        while any(game.exists() for game in games) and time.monotonic() < until:
            time.sleep(0.05)

    def seen(self, name: str, *options: str) -> str:
        """Return the text of a pane, with masked times."""
        text = re.sub(r"\b\d+:\d\d\b", "M:SS", self("capture-pane", "-p", *options, "-t", name))
        return re.sub("[⠀-⣿]", "*", text).rstrip("\n") + "\n"


@contextmanager
def playing(panes: Iterable[tuple[str, int, tuple[str, ...]]]) -> Iterator[Tmux]:
    """Play these games at once, each with its own server."""
    if shutil.which("tmux") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no tmux found: install it")
    with ExitStack() as stack:
        tmux = Tmux(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        for config, width, env in panes:
            held = tmux.held[f"{config}{width}"] = Event()
            hosted = stack.enter_context(server(GAMES[config][2], held).in_thread())
            tmux.play(config, width, hosted.url(), *env)
        stack.callback(tmux.end)
        yield tmux


@pytest.fixture(scope="module")
def tmux(request: pytest.FixtureRequest) -> Iterator[Tmux]:
    """Play the games of the selected tests."""
    items = [item for item in request.session.items if item.path == request.path]
    here = [item.callspec.params for item in items if hasattr(item, "callspec")]
    with playing([(each["config"], each["width"], each["env"]) for each in here]) as started:
        yield started


def reached(tmux: Tmux, name: str, golden: Path) -> str:
    """Return the text of a pane once it equals the golden text, or after a minute."""
    until = time.monotonic() + 60
    while (seen := tmux.seen(name)) != golden.read_text(encoding="utf-8") and time.monotonic() < until:
        time.sleep(0.1)
    return seen


LOOKS = [
    *(pytest.param(config, 80, (), id=f"{config}-80") for config in GAMES),
    *(pytest.param(config, 120, (), id=f"{config}-120", marks=pytest.mark.slow) for config in GAMES),
    pytest.param("monopoly_bots", 80, ("NO_COLOR=1",), id="monopoly_bots-80-without-colour", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("config", "width", "env"), LOOKS)
def test_a_game_in_progress_looks_like_this(tmux: Tmux, config: str, width: int, env: tuple[str, ...]) -> None:
    name, golden = "".join([config, str(width), *env]), GOLDEN / f"{config}_{width}.txt"
    seen = reached(tmux, name, golden)
    assert seen == golden.read_text(encoding="utf-8"), "python -m tests.cli.test_in_progress makes it"
    assert bool(COLOUR.search(tmux.seen(name, "-e"))) is (env == ())


if __name__ == "__main__":
    with playing([(config, width, ()) for config in GAMES for width in WIDTHS]) as started:
        GOLDEN.mkdir(exist_ok=True)
        for name in started.held:
            started.held[name].wait(60)
        time.sleep(3)  # the calls of the other player end, and the panel is drawn
        for config in GAMES:
            for width in WIDTHS:
                (GOLDEN / f"{config}_{width}.txt").write_text(started.seen(f"{config}{width}"), encoding="utf-8")
