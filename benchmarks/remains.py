"""The content of a folder of runs after the process that played them is gone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agentsim.records.journal import JournalContents, read_journal
from agentsim.records.load import list_runs
from benchmarks.witness import prompt_digest

__all__ = ["Held", "cut_short", "files_under", "held", "is_temporary", "strangers", "torn"]

_MOST_TRIES = 10


@dataclass(frozen=True)
class Held:
    """Whole lines of journals by the name that was asked for. Runs whose journal has no first line are left out."""

    raw: Mapping[str, bytes]
    contents: Mapping[str, JournalContents]
    stems: Mapping[str, str]

    @cached_property
    def answers(self) -> Counter[str]:
        """The number of recorded completions by prompt."""
        found: Counter[str] = Counter()
        for each in self.contents.values():
            for key in {*each.decisions, *each.attempts}:
                attempts = [attempt.messages for attempt in each.calls(*key) if attempt.completion is not None]
                found.update(prompt_digest((message.role, message.text) for message in prompt) for prompt in attempts)
        return found

    @property
    def decisions(self) -> int:
        """The number of decisions."""
        return sum(len(each.decisions) for each in self.contents.values())

    def missing_in(self, later: Held) -> int:
        """Return how many of these decisions are missing or changed later."""
        return sum(
            name not in later.contents or later.contents[name].decisions.get(key) != entry
            for name, each in self.contents.items()
            for key, entry in each.decisions.items()
        )

    def begins(self, later: Held) -> bool:
        """Return whether these lines are the first of the later ones."""
        return all(later.raw.get(name, b"").startswith(lines) for name, lines in self.raw.items())


def held(place: Path, names: Sequence[str]) -> Held:
    """Read the journals of these runs. Raises `JournalError` if one cannot be read."""
    raw, contents, stems = {}, {}, {}
    for name in names:
        for stem in (name, *(f"{name}_{number}" for number in range(2, _MOST_TRIES))):
            path = place / f"{stem}.jsonl"
            if path.exists() and b"\n" in (written := path.read_bytes()):
                raw[name] = written[: written.rindex(b"\n") + 1]
                contents[name], stems[name] = read_journal(path), stem
                break
    return Held(raw, contents, stems)


def files_under(folder: Path) -> dict[Path, bytes]:
    """Return the content of every file in a folder and its subfolders, by relative path."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def is_temporary(path: Path) -> bool:
    """Return whether a file has the name of a temporary file of an atomic write, which commands ignore."""
    return path.name.startswith(".") and path.suffix == ".tmp"


def torn(found: Mapping[Path, bytes], wanted: Mapping[Path, bytes]) -> list[str]:
    """Return the names of files that exist with another content than wanted."""
    return [str(path) for path, content in wanted.items() if found.get(path, content) != content]


def cut_short(place: Path) -> list[str]:
    """Return the names of histories and pages that are incomplete."""
    pages = [path for path in place.glob("*.html") if not path.read_bytes().rstrip().endswith(b"</html>")]
    return [path.name for path in (*pages, *(path for path in place.glob("*.json") if not _is_json(path)))]


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_bytes())
    except ValueError:
        return False
    return True


def strangers(place: Path, stems: Collection[str]) -> tuple[int, list[str]]:
    """Return the number of harmless leftovers, and the names of files that later commands would misread.

    Files of the runs `stems` are expected, unless such a run is not completed.
    """
    harmless, wrong = 0, []
    known = {f"{stem}{suffix}" for stem in stems for suffix in (".jsonl", ".json", ".html")} | {"manifest.json"}
    for path in place.iterdir():
        empty = path.suffix == ".jsonl" and b"\n" not in path.read_bytes()  # a name is reserved, and no line is written
        if path.name not in known and (is_temporary(path) or empty):
            harmless += 1
        elif path.name not in known:
            wrong.append(path.name)
    wrong += [
        f"{run.name}, {run.status}" for run in list_runs(place) if run.name in stems and run.status != "completed"
    ]
    return harmless, wrong
