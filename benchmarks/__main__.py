"""All that has a goal, as one table: each figure beside its peer, which was measured in the same run, ratios first.

    uv run --with pyperformance --with pyperf --with inspect-ai python -m benchmarks all
    uv run python -m benchmarks all --only branches start --out figures.json
    uv run python -m benchmarks page figures.json > docs/benchmarks/figures.md

Each subject is a benchmark of this folder, run as a process with `--json`, or the test suite. Read the figures of an
idle machine alone: what else runs takes its share of every wall time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

LIBRARIES = ("openai", "anthropic", "pydantic", "httpx2", "typer", "rich", "tenacity")


@dataclass(frozen=True)
class Row:
    """One figure: of a `subject`, in a `unit`, beside what it is measured against, with its goal."""

    subject: str
    what: str
    value: float
    unit: str
    peer: str
    goal: float
    least: bool = False
    """Whether the goal is the least that the figure should be, not the most."""

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        return self.value >= self.goal if self.least else self.value <= self.goal


def lines(module: str, *words: str) -> list[dict[str, Any]]:
    """Run a benchmark in a process and return its lines of JSON. Raises `CalledProcessError` if it fails."""
    program = [sys.executable, "-m", f"benchmarks.{module}", *words, "--json"]
    said = subprocess.run(program, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in said.splitlines()]


def median(found: Sequence[Mapping[str, Any]], name: str, **where: object) -> float:
    """Return the median of a field over the lines whose other fields have these values."""
    return float(statistics.median(each[name] for each in found if where.items() <= each.items()))


def before() -> Iterator[Row]:
    """Games of bots beside the first commit with all games."""
    found = lines("before")
    for config, goal in {"monopoly_bots": 2.5, "society_bots": 1.3, "agent_island_bots": 1.5}.items():
        ratio = median(found, "speed_up", config=config)
        yield Row("before", f"{config}, speed", ratio, "x", "commit 7e133d4", goal, least=True)


def kernel() -> Iterator[Row]:
    """The kernel's time of a decision, in proportion to `richards`, if that is installed."""
    found = lines("kernel", "--repeats", "5")
    micros = {
        path: statistics.median(
            1e6 * each["cpu_s"] / max(1, each["decisions"]) for each in found if each["path"] == path
        )
        for path in dict.fromkeys(each["path"] for each in found)
    }
    richards = micros.pop("richards", None)
    for path, goal in {"in memory": 25, "journal and history": 45}.items():
        scaled = micros[path] * (50_000 / richards if richards else 1)
        peer = f"richards {richards / 1e3:.0f} ms, scaled to 50" if richards else "richards is not installed"
        yield Row("kernel", f"a decision, {path}", scaled, "us", peer, goal)


def start() -> Iterator[Row]:
    """What a command takes to start."""
    wall = {each["what"]: each["wall_ms"] for each in lines("start")}
    bare = wall.pop("an interpreter")
    goals = {"import agentsim": 30, "agentsim --help": 120, "agentsim run, first decision": 300}
    for what, goal in goals.items():
        yield Row("start", what, wall[what], "ms", f"an interpreter alone {bare:.0f} ms", goal)


def calls() -> Iterator[Row]:
    """Chains and waves of calls of 1 s beside the bare SDK and `asyncio.gather`."""
    found = lines("calls", "--callers", "100", "500", "--latency", "1", "--repeats", "1")
    paths = {"chains": "our client", "waves": "whole path"}
    for callers in (100, 500):
        for shape, path in paths.items():
            there = {"callers": callers, "shape": shape, "latency_s": 1.0}
            wall = {
                sender: median(found, "wall_s", path=sender, **there)
                for sender in ("SDK, create()", "Inspect, generate()", path)
                if any({"path": sender, **there}.items() <= each.items() for each in found)
            }
            ours = wall.pop(path)
            peers = "; ".join(f"{sender} {seconds:.1f} s" for sender, seconds in wall.items())
            yield Row("calls", f"{shape} of {callers} callers, {path}", ours / wall["SDK, create()"], "x", peers, 1.05)


def critical_path() -> Iterator[Row]:
    """A game of seven players with calls of 200 ms beside its critical path."""
    yield Row("critical_path", "seven players, 200 ms", median(lines("critical_path"), "ratio"), "x", "its waves", 1.05)


def branches() -> Iterator[Row]:
    """Twelve branches beside one."""
    yield Row("branches", "twelve branches at once", median(lines("branches"), "ratio"), "x", "one branch", 1.3)


def batch() -> Iterator[Row]:
    """Two workers beside one."""
    # enough games that the start of the workers, a third of a second, is a small part
    for config, games in {"agent_island_bots": 800, "monopoly_bots": 60, "society_bots": 12}.items():
        words = ("--config", f"configs/{config}.toml", "--games", str(games), "--out", shared_memory())
        (found,) = lines("batch", *words)
        peer = f"two free processes {found['machine']:.2f}"
        yield Row("batch", f"{config}, two workers", found["speed_up"], "x", peer, 1.9, least=True)


def reports() -> Iterator[Row]:
    """Reports and pages of a thousand games."""
    found = {each["command"]: each for each in lines("reports")}
    alone, report = (found[command]["wall_s"] for command in ("--version", "report"))
    yield Row("reports", "report, 1,000 games", report, "s", f"--version {alone:.2f} s", 5)
    yield Row("reports", "report, 1,000 games", found["report"]["peak_mib"], "MiB", "", 500)
    plain, paged = (found[command]["cpu_s"] for command in ("report", "report --html, again"))
    yield Row("reports", "CPU of a page of 1,000 games, beyond the report", paged - plain, "s", f"{plain:.2f} s", 1)


def memory() -> Iterator[Row]:
    """Memory of societies of models."""
    for agents, days, goal in ((100, 30, 250), (1_000, 8, 700)):
        found = lines("society", "--models", str(agents), "--days", str(days))
        peak = max(each["peak_mib"] for each in found)
        yield Row("memory", f"{agents:,} agents, {days} days", peak, "MiB", "", goal)


def cost() -> Iterator[Row]:
    """What of a prompt a prefix cache can take."""
    goals = {"agent_island": 80, "werewolf": 80, "society": 80, "auction": 75, "monopoly": 75, "market": 65}
    found = {each["game"]: each for each in lines("cost")}
    for game, goal in goals.items():
        taken = f"{found[game]['cached']:.0%} of all tokens billed as cached"
        yield Row("cost", f"{game}, repeated of a prompt", 100 * found[game]["repeated"], "%", taken, goal, least=True)


def suite() -> Iterator[Row]:
    """The test suite, as the README starts it. Raises `CalledProcessError` if a test fails."""
    began = time.perf_counter()
    said = subprocess.run(["uv", "run", "pytest", "-q"], check=True, stdout=subprocess.PIPE, text=True).stdout
    passed, _, _ = said.splitlines()[-1].partition(" in ")
    yield Row("suite", "the default tests, two processes", time.perf_counter() - began, "s", passed, 240)


SUBJECTS: tuple[Callable[[], Iterator[Row]], ...] = (
    before,
    kernel,
    start,
    calls,
    critical_path,
    branches,
    batch,
    reports,
    memory,
    cost,
    suite,
)


def shared_memory() -> str:
    """Return a folder in memory where there is one, so that no disk is measured."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else "."


def machine() -> dict[str, object]:
    """Return what the figures depend on."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True
        ).stdout.strip(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
        "versions": {name: version(name) for name in LIBRARIES},
    }


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, ratios first."""
    yield "| benchmark | figure | measured | beside | goal | met |"
    yield "|---|---|--:|---|--:|---|"
    for row in sorted(rows, key=lambda row: row.unit != "x"):
        sign = "at least" if row.least else "at most"
        digits = 2 if row.unit in {"x", "s"} else 0
        measured, goal = f"{row.value:.{digits}f} {row.unit}", f"{sign} {row.goal:g} {row.unit}"
        yield f"| `{row.subject}` | {row.what} | {measured} | {row.peer} | {goal} | {'yes' if row.met else 'no'} |"


def main(words: Sequence[str] | None = None) -> None:
    """Measure, print the table and write the file; or print the page of a file."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=(__doc__ or "").split("\n", maxsplit=1)[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    every = commands.add_parser("all", help="measure all that has a goal")
    every.add_argument("--only", nargs="+", choices=[each.__name__ for each in SUBJECTS], help="these alone")
    every.add_argument("--out", type=Path, help="a file for the figures, as JSON with machine and versions")
    page = commands.add_parser("page", help="print a page of docs from a file of figures")
    page.add_argument("figures", type=Path)
    given = parser.parse_args(words)
    if given.command == "page":
        found = json.loads(given.figures.read_text("utf-8"))
        print(_PAGE.format(table="\n".join(table([Row(**row) for row in found["rows"]])), **found["machine"]))
        return
    rows: list[Row] = []
    failed: list[str] = []
    conditions = machine()
    for subject in SUBJECTS:
        if given.only and subject.__name__ not in given.only:
            continue
        print(f"{subject.__name__} ...", file=sys.stderr, flush=True)
        try:
            rows += subject()
        except subprocess.CalledProcessError as error:
            print(f"{subject.__name__}: {error}", file=sys.stderr, flush=True)
            failed.append(subject.__name__)
        if given.out is not None:  # after each subject, since all of them take an hour
            found = {"machine": conditions, "rows": [asdict(row) for row in rows]}
            given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("\n".join(table(rows)))
    if failed:
        sys.exit(f"no figures, or not all: {', '.join(failed)}")


_PAGE = """# Figures

All that has a goal, from one run of `python -m benchmarks all` at commit {commit}: Python {python}, {cores} cores, load
{load} at its start.
Each figure stands beside what was measured with it in the same run.

{table}
"""

if __name__ == "__main__":
    main()
