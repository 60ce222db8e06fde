"""A whole game at a pseudo-terminal, with scripted answers of a person."""

from __future__ import annotations

import fcntl
import json
import os
import re
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped] # it ships no types
from pexpect.fdpexpect import fdspawn  # type: ignore[import-untyped] # as above

from agentsim.records.run_files import RunFiles
from agentsim.runs.replay import prove
from tests.cli.processes import CommandProcess


@dataclass(frozen=True)
class Played:
    """The screen as one line, the history, and the number of times that each question was asked."""

    screen: str
    history: dict[str, Any]
    asked: Mapping[str, int]

    def decisions(self, player: str) -> list[dict[str, Any]]:
        """Return all decisions of a player."""
        return [record for record in self.history["decisions"] if record["player"] == player]


class AtTerminal(fdspawn):  # type: ignore[misc] # pexpect ships no types
    """The command in a process of its own at a pseudo-terminal, whose screen is expected and whose keys are sent."""

    def __init__(self, *words: str, cwd: Path, columns: int = 80) -> None:
        ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (40, columns))
        env = {**os.environ, "TERM": "xterm-256color"}
        streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        self._process = CommandProcess(*words, cwd=cwd, env=env, prepare=_lead_terminal, **streams)
        os.close(theirs)
        super().__init__(ours, encoding="utf-8", timeout=60)

    def sendintr(self) -> None:
        """Press Ctrl-C."""
        self.send("\x03")

    def ended(self) -> int:
        """Hang up, and return the exit code."""
        self.close()
        return self._process.wait(60)


def _lead_terminal() -> None:
    """Make the terminal on stdin that of this process, which then has the signals of its keys."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def at_terminal(folder: Path, scenario: str, columns: int = 80) -> AtTerminal:
    """Start `run` at a pseudo-terminal."""
    (folder / "game.toml").write_text(scenario, encoding="utf-8")
    return AtTerminal("run", "--config", "game.toml", "--name", "run", "--no-html", cwd=folder, columns=columns)


def unstyled(screen: str) -> str:
    """Return the printed text without the sequences for colors, the cursor and the panel."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen).replace("\r", "")


PROMPT = r"empty\s+line\.\s+> $"
"""The end of the screen when a reply is expected."""


def played(folder: Path, scenario: str, answers: Mapping[str, Sequence[str]], columns: int = 80) -> Played:
    """Play the game to its end, which must pass a replay.

    `answers` maps questions, as regular expressions, to replies; the last reply repeats. The question is the last
    expression on the screen since the reply before, or else the earlier question again. A reply may name groups of the
    expression.
    """
    child = at_terminal(folder, scenario, columns)
    given = dict.fromkeys(answers, 0)
    screen, question, found = "", "", None
    while child.expect([PROMPT, pexpect.EOF]) == 0:
        screen += child.before + child.after
        shown = " ".join(unstyled(child.before).split())
        if matches := [(match.start(), each, match) for each in answers for match in re.finditer(each, shown)]:
            _, question, found = max(matches, key=itemgetter(0))
        assert found is not None, f"nothing to reply to: {shown[-600:]}"
        replies, nth = answers[question], given[question]
        given[question] += 1
        reply = found.expand(replies[min(nth, len(replies) - 1)])
        child.send(reply + ("\n" if reply == "?" else "\n\n"))
    screen += child.before
    assert child.ended() == 0, screen[-2000:]
    files = RunFiles(folder / "logs", "run")
    assert prove(files).complete
    history = json.loads(files.history.read_text(encoding="utf-8"))
    return Played(" ".join(unstyled(screen).split()), history, given)
