"""Faults put into our games, one at a time: which checks of `agentsim check` find each?

    python -m benchmarks.faults                       # all of them, with 20 games for each check
    python -m benchmarks.faults --only doctor --seeds 40 --json

Each fault of `faults.toml` is a text of the package and what stands in its place. The package is copied to a folder of
its own, the text is replaced there, and golden files are written with the fault in place, so that no golden file can
show it. Then the game is checked. A fault is found where any check but `golden_files` finds something: a check of
`agentsim.testing`, an invariant or a law that the game declares, or the kernel, which refuses an audience that an
event's `private` leaves out. A text that is no longer there is an error. What was not found makes the exit code 1.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parents[1]
LISTED = Path(__file__).with_suffix(".toml")
REFUSED = "is private, and is told to"
_MOST_NAMED = 4  # the most checks named in a row, since nearly all report a game that stops
_SAYS_WHERE = "import agentsim, sys; sys.exit(agentsim.__file__)"


@dataclass(frozen=True)
class Edit:
    """A replacement of the text `old`, which occurs once in the `file` of the game's folder, by `new`."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Fault:
    """A mistake that an author of the game might make."""

    game: str
    name: str
    edits: tuple[Edit, ...]

    def edited(self, package: Path) -> dict[Path, str]:
        """Return the changed files of the game in this package.

        Raises `ValueError` if a text does not occur there exactly once.
        """
        texts: dict[Path, str] = {}
        for edit in self.edits:
            path = package / "games" / self.game / edit.file
            text = texts.get(path) or path.read_text(encoding="utf-8")
            if (count := text.count(edit.old)) != 1:
                raise ValueError(f"{self.game}, {self.name}: {edit.file} has {edit.old!r} {count} times, and not once")
            texts[path] = text.replace(edit.old, edit.new)
        return texts


@dataclass(frozen=True)
class Found:
    """The result for one fault. `by` are the checks that found it.

    `refused` is true if the kernel refused to tell a private event to others.
    """

    game: str
    fault: str
    by: tuple[str, ...]
    refused: bool
    seconds: float

    @property
    def how(self) -> str:
        """The result in words, for the table."""
        if not self.by:
            return "not found"
        if self.refused:
            return "refused by the kernel"
        more = f" and {len(self.by) - _MOST_NAMED} more" if len(self.by) > _MOST_NAMED else ""
        return f"{', '.join(f'`{name}`' for name in self.by[:_MOST_NAMED])}{more}"


def listed() -> tuple[Fault, ...]:
    """Return the faults of `faults.toml`."""
    faults = tomllib.loads(LISTED.read_text(encoding="utf-8"))["fault"]
    return tuple(Fault(each["game"], each["name"], tuple(Edit(**edit) for edit in each["edit"])) for each in faults)


def look_for(fault: Fault, seeds: int) -> Found:
    """Check the game with the fault in it, in a copy of the package."""
    start = perf_counter()
    with tempfile.TemporaryDirectory(prefix="agentsim-fault-") as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "agentsim", copy / "agentsim", ignore=shutil.ignore_patterns("__pycache__"))
        for path, text in fault.edited(copy / "agentsim").items():
            path.write_text(text, encoding="utf-8")
        where = _python(copy, "-c", _SAYS_WHERE).stderr
        assert where.startswith(str(copy)), f"the package of {where} would be checked, and not the copy"
        said = _check(copy, fault.game, seeds)
    by = tuple(name for name in re.findall(r"^FAILED (\w+):", said, re.MULTILINE) if name != "golden_files")
    return Found(fault.game, fault.name, by, REFUSED in said, round(perf_counter() - start, 1))


def _check(copy: Path, game: str, seeds: int) -> str:
    words = ("--golden", "golden", "--update", "--seeds", str(seeds))
    done = _python(copy, "-m", "agentsim", "check", game, *words)
    if done.returncode not in {0, 1} or not re.search(r"^(ok|FAILED) \w+:", done.stdout, re.MULTILINE):
        raise RuntimeError(f"{game} cannot be checked: {done.stderr[-2000:]}")
    return done.stdout


def _python(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="faults whose game and name contain this")
    parser.add_argument("--seeds", type=int, default=20, help="games that a check plays")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="faults looked for at once")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    given = parser.parse_args()
    faults = [each for each in listed() if given.only in f"{each.game} {each.name}"]
    missed = 0
    if not given.json:
        print("| game | fault | found by | seconds |\n|---|---|---|---|")
    counts: Counter[str] = Counter()
    with ThreadPoolExecutor(given.jobs) as pool:
        for found in pool.map(partial(look_for, seeds=given.seeds), faults):
            missed += not found.by
            counts["Werewolf" if found.game == "werewolf" else "the other games"] += bool(found.by)
            row = f"| {found.game} | {found.fault} | {found.how} | {found.seconds:.0f} |"
            print(json.dumps(asdict(found)) if given.json else row, flush=True)
    if not given.json:
        print(f"\nfound {len(faults) - missed} of {len(faults)}: {dict(counts)}")
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
