"""A lane of the benchmark of kills: one command at a time, interrupted, restarted until it is done, and checked.

`kills` describes the counts.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from random import Random

from agentsim import games
from agentsim.errors import JournalError
from benchmarks.remains import Held, cut_short, files_under, held, is_temporary, strangers, torn
from benchmarks.struck import Life, live
from benchmarks.witness import Witness

__all__ = ["COMMANDS", "Cell", "Lane"]

COMMANDS = ("run", "resume", "fork", "batch", "bundle", "export")
_FORMATS = ("csv", "jsonl", "chat-jsonl", *(("parquet",) if find_spec("pyarrow") else ()))
_LOGS, _MANY = "logs", "many"
_PLAYED, _BRANCH = "played", "branch"
_GAMES = ("game_0001", "game_0002", "game_0003")
_CALLS, _JOBS = 3, 2  # concurrency of calls in a game, and of games in a batch
_LIVES = 6  # the most processes of a command that are interrupted in a row
_PAGES = 1 / 3  # the share of runs with pages


@dataclass
class Cell:
    """The counts for one command of one game."""

    command: str
    game: str
    kills: int = 0
    stops: int = 0
    again: int = 0
    lost: int = 0
    twice: int = 0
    in_flight: int = 0
    arrived: int = 0
    window_ms: float = 0.0
    same: int = 0
    of: int = 0
    leftovers: int = 0
    violations: tuple[str, ...] = ()

    @property
    def signals(self) -> int:
        """The number of signals that met a live process."""
        return self.kills + self.stops


@dataclass(frozen=True)
class _Play:
    """A command that plays: its words, the folder and names of its runs, and how its folder is prepared."""

    words: tuple[str, ...]
    place: str
    names: tuple[str, ...]
    ready: Callable[[Path], object] = lambda _folder: None
    most_in_flight: int = _CALLS


@dataclass(frozen=True)
class _Reference:
    """The results of a command without signals. `calls` are the calls that it made itself."""

    folder: Path
    held: Held
    histories: dict[str, bytes]
    calls: Counter[str]
    lasted_s: float


class _Violation(Exception):
    """A broken promise of the command line."""


@dataclass
class Lane:
    """A server, folders and reference results of its own, and one process at a time."""

    server: Witness
    folder: Path
    rng: Random
    timeout_s: float
    longest_stop_s: float

    def __post_init__(self) -> None:
        self._references: dict[tuple[str, ...], _Reference] = {}
        self._files: dict[tuple[str, ...], tuple[dict[Path, bytes], float]] = {}
        self._lengths: dict[tuple[str, ...], float] = {}

    def strike(self, cell: Cell, most: int) -> None:
        """Run the cell's command once, from its first process to its last, with at most `most` signals."""
        folder = Path(tempfile.mkdtemp(prefix=f"{cell.game}_{cell.command}_", dir=self.folder))
        try:
            (self._write if cell.command in {"bundle", "export"} else self._play)(cell, folder, most)
        except (_Violation, JournalError, subprocess.TimeoutExpired) as violation:
            cell.violations += (f"{folder}: {violation}",)
        else:
            shutil.rmtree(folder)

    def _play(self, cell: Cell, folder: Path, most: int) -> None:
        play = self._command(cell.game, cell.command)
        wanted = self._reference(cell.game, self._command(cell.game, "run") if cell.command == "resume" else play)
        inherited = wanted.held.answers - wanted.calls
        play.ready(folder)
        place, words = folder / play.place, play.words
        before, lives = held(place, play.names), self.rng.randint(1, _LIVES)
        page = [] if self.rng.random() < _PAGES or cell.command == "batch" else ["--no-html"]
        self.server.heard()
        while True:
            kind = (cell.game, cell.command, words[0])
            life = self._live(cell, kind, [*words, *page], folder, wanted.lasted_s, most if lives else 0)
            lives, most = max(0, lives - 1), max(0, most - life.signals)
            heard, now = self.server.heard(), held(place, play.names)
            twice = (heard.asked - (wanted.held.answers - (before.answers | inherited))).total()
            lost = before.missing_in(now)
            cell.twice, cell.lost = cell.twice + twice, cell.lost + lost
            if twice or lost or not before.begins(now):
                raise _Violation(f"`{words[0]}`: {twice} calls paid twice, {lost} decisions lost, or lines rewritten")
            if broken := cut_short(place):
                raise _Violation(f"`{words[0]}` leaves a part of {', '.join(broken)}")
            if not life.killed:
                break
            cell.again += 1
            new = now.answers - before.answers
            flying, arrived = heard.asked - new, heard.unread(new, life.until)
            cell.in_flight, cell.arrived = cell.in_flight + flying.total(), cell.arrived + len(arrived)
            cell.window_ms = max([cell.window_ms, *(1_000 * (life.until - max(at, life.since)) for at in arrived)])
            if flying.total() > play.most_in_flight:
                raise _Violation(
                    f"`{words[0]}`: {flying.total()} calls were in flight, of at most {play.most_in_flight}"
                )
            before, words = now, self._again(play, place, now)
        if life.code:
            raise _Violation(f"`{words[0]}` ended with {life.code}: {life.complaint}")
        same = [name for name in play.names if _history(place, now, name) == wanted.histories[name]]
        cell.same, cell.of = cell.same + len(same), cell.of + len(play.names)
        if len(same) < len(play.names):
            raise _Violation(f"only {same} of {play.names} have the history of an undisturbed play")
        left, wrong = strangers(place, {*now.stems.values(), *((_PLAYED,) if cell.command == "fork" else ())})
        cell.leftovers += left
        if wrong:
            raise _Violation(f"later commands find {', '.join(wrong)}")

    def _again(self, play: _Play, place: Path, now: Held) -> tuple[str, ...]:
        """Return the command that a person types next."""
        if play.place == _MANY and (place / "manifest.json").exists():
            return self.rng.choice((play.words, ("resume", _MANY)))
        return ("resume", *now.stems.values()) if now.stems and play.place == _LOGS else play.words

    def _write(self, cell: Cell, folder: Path, most: int) -> None:
        source, played_by = self.rng.choice(((_PLAYED, "run"), (_MANY, "batch")))
        words = (cell.command, source, *(("--format", self.rng.choice(_FORMATS)) if cell.command == "export" else ()))
        parent = self._reference(cell.game, self._command(cell.game, played_by)).folder
        wanted, lasted_s = self._written(cell.game, words, parent)
        _copy(parent, folder)
        known, lives = {*files_under(folder), *wanted}, self.rng.randint(1, _LIVES)
        while True:
            life = self._live(cell, (cell.game, *words), words, folder, lasted_s, most if lives else 0)
            lives, most = max(0, lives - 1), max(0, most - life.signals)
            found = files_under(folder)
            if broken := torn(found, wanted):
                raise _Violation(f"`{' '.join(words)}` killed: torn: {', '.join(broken)}")
            if wrong := [str(path) for path in found if path not in known and not is_temporary(path)]:
                raise _Violation(f"`{' '.join(words)}` leaves {', '.join(wrong)}")
            whole = wanted.keys() <= found.keys()
            if not life.killed and (life.code == 0 or (whole and "already exists" in life.complaint)):
                break
            if not life.killed:
                raise _Violation(f"`{' '.join(words)}` ended with {life.code}: {life.complaint}")
            cell.again += 1
        cell.leftovers += sum(path not in known for path in found)
        cell.same, cell.of = cell.same + whole, cell.of + 1
        if not whole:
            raise _Violation(f"`{' '.join(words)}` is done and has not written all")

    def _written(self, game: str, words: Sequence[str], parent: Path) -> tuple[dict[Path, bytes], float]:
        """Return the files that a command adds to a folder without signals, and its seconds."""
        key = (game, *words)
        if key not in self._files:
            folder = Path(tempfile.mkdtemp(prefix="written_", dir=self.folder))
            _copy(parent, folder)
            before = files_under(folder)
            life = _undisturbed(words, folder, self.rng)
            new = {path: content for path, content in files_under(folder).items() if path not in before}
            self._files[key] = new, life.lasted_s
        return self._files[key]

    def _live(  # noqa: PLR0917 - each has a type of its own
        self, cell: Cell, kind: tuple[str, ...], words: Sequence[str], folder: Path, usual_s: float, most: int
    ) -> Life:
        """Run one process and count its signals. A process without signals updates the expected length of its kind."""
        length_s = self._lengths.get(kind, usual_s)
        life = live(words, folder, self.rng, length_s=length_s, most=most, longest_stop_s=self.longest_stop_s)
        cell.kills, cell.stops = cell.kills + life.killed, cell.stops + life.stops
        if not most:
            self._lengths[kind] = life.lasted_s
        return life

    def _command(self, game: str, command: str) -> _Play:
        """Return the command that a person types first."""
        if command == "run":
            return _Play(("run", "--name", _PLAYED, *self._scenario(game)), _LOGS, (_PLAYED,))
        if command == "batch":
            words = ("batch", "--games", str(len(_GAMES)), "--jobs", str(_JOBS), "--out", _MANY)
            return _Play((*words, *self._scenario(game)), _MANY, _GAMES, most_in_flight=_JOBS * _CALLS)
        parent = self._reference(game, self._command(game, "run"))
        if command == "resume":
            return _Play(("resume", _PLAYED), _LOGS, (_PLAYED,), lambda folder: self._cut(parent.folder, folder))
        at = self.rng.choice((1, 2)) * parent.held.decisions // 3
        fork = ("fork", _PLAYED, "--at", str(at), "--name", _BRANCH)
        return _Play(fork, _LOGS, (_BRANCH,), lambda folder: _copy(parent.folder, folder))

    def _scenario(self, game: str) -> tuple[str, ...]:
        path = self.folder / f"{game}.toml"
        if not path.exists():
            package = type(games.find(game)).__module__.rpartition(".")[0]
            path.write_text((resources.files(package) / "tiny.toml").read_text("utf-8"), encoding="utf-8")
        settings = {
            "defaults.model": "fake/echo",
            "defaults.timeout_s": self.timeout_s,
            "providers.fake.base_url": self.server.url,
            "limits.concurrency": _CALLS,
            "limits.max_fallback_rate": 1.0,
        }
        return "--config", str(path), *(word for key, value in settings.items() for word in ("--set", f"{key}={value}"))

    def _cut(self, whole: Path, folder: Path) -> None:
        """Write the journal as a kill may leave it, cut at any byte after its first line."""
        (folder / _LOGS).mkdir()
        journal = (whole / _LOGS / f"{_PLAYED}.jsonl").read_bytes()
        size = self.rng.randint(journal.index(b"\n") + 1, len(journal))
        (folder / _LOGS / f"{_PLAYED}.jsonl").write_bytes(journal[:size])

    def _reference(self, game: str, play: _Play) -> _Reference:
        key = (game, *play.words)
        if key not in self._references:
            folder = Path(tempfile.mkdtemp(prefix=f"whole_{game}_", dir=self.folder))
            play.ready(folder)
            self.server.heard()
            life = _undisturbed(play.words, folder, self.rng)
            calls, place = self.server.heard().asked, folder / play.place
            found = held(place, play.names)
            assert not calls - found.answers, f"{' '.join(play.words)}: calls came to nothing"
            histories = {name: _history(place, found, name) for name in play.names}
            self._references[key] = _Reference(folder, found, histories, calls, life.lasted_s)
        return self._references[key]


def _undisturbed(words: Sequence[str], folder: Path, rng: Random) -> Life:
    life = live(words, folder, rng)
    assert life.code == 0, f"{' '.join(words)}: {life.complaint}"
    return life


def _history(place: Path, found: Held, name: str) -> bytes:
    """Return the part of the history that does not change between plays."""
    path = place / f"{found.stems.get(name, name)}.json"
    return path.read_bytes().partition(b'"volatile":')[0] if path.exists() else b""


def _copy(parent: Path, folder: Path) -> None:
    shutil.copytree(parent, folder, dirs_exist_ok=True)
