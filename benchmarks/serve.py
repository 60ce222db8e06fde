"""The site under load: the time from the journal to pages that stand open, and what watching costs a run.

    python -m benchmarks.serve [--watchers 50] [--pairs 5]

A recorded game of bots is written to a journal decision by decision, by a process that holds it as a run does. Watchers
read the stream over sockets; one more is a page in Chromium, where it is installed, which says when an event stands in
the document. For the cost, an island of seven models behind a loopback server with a fixed latency is played alone and
watched in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from agentsim.history.contents import read_journal
from agentsim.history.run_files import RunFiles
from agentsim.runner.drive import played_again
from agentsim.runner.plays import new_play, restored_scenario
from agentsim.runner.session import begin
from agentsim.scenario.load import load
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.server.site import ServedSite, served, until

ROOT = Path(__file__).parents[1]
PACE_S = 0.1
EVENT = re.compile(rb'<article class="event[^"]*" id="e(\d+)"')


def told_by(files: RunFiles) -> dict[int, int]:
    """By the index of a wave's last decision in the journal, how many events had been told once it was decided."""
    recorded = read_journal(files.journal)
    play = new_play(*restored_scenario(recorded), recorded)
    found, last = {}, 0
    for _, entries, _ in played_again(play, recorded):
        if last:
            found[last] = len(play.log)
        last = max((entry.index for entry in entries), default=0)
    found[last] = len(play.log)
    play.close()
    return found


def written(source: Path, target: Path, told: dict[int, int], when: dict[int, float]) -> None:
    """Write the journal's decisions at a pace; when each event could first be known."""
    lines, shown = source.read_bytes().splitlines(keepends=True), 0
    with target.open("ab", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for line in lines:
            file.write(line)
            now = time.time()
            if found := re.search(rb'"record":"decision","index":(\d+)', line):
                for seq in range(shown + 1, told.get(int(found[1]), shown) + 1):
                    when[seq] = now
                shown = max(shown, told.get(int(found[1]), shown))
                time.sleep(PACE_S)


async def watched(site: ServedSite, seen: list[tuple[int, float]], done: asyncio.Event, name: str) -> None:
    """Read one stream, and note when each event came."""
    reader, writer = await asyncio.open_connection(site.host, site.port)
    writer.write(f"GET /runs/{name}/stream HTTP/1.1\r\nHost: {site.host}:{site.port}\r\n\r\n".encode())
    try:
        tail = b""
        while not done.is_set() and (piece := await asyncio.wait_for(reader.read(1 << 18), 60)):
            now, piece = time.time(), tail + piece
            seen.extend((int(seq), now) for seq in EVENT.findall(piece))
            if b"event: end" in piece:
                return
            tail = piece[max(piece.rfind(b">") + 1, len(piece) - 300) :]
    except (TimeoutError, ConnectionError):
        return
    finally:
        writer.close()


def in_chromium(url: str, stop: threading.Event, ready: threading.Event) -> list[tuple[int, float]]:
    """When each event stood in the document of a real browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_context(bypass_csp=True).new_page()
        page.goto(url)
        page.evaluate("""() => { window.seen = {}; new MutationObserver(() => {
          for (const e of document.querySelectorAll("#list article.event")) window.seen[e.id.slice(1)] ??= Date.now();
        }).observe(document.getElementById("list"), { childList: true, subtree: true }); }""")
        ready.set()
        stop.wait(120)
        found = page.evaluate("window.seen")
        browser.close()
    return [(int(seq), at / 1000) for seq, at in found.items()]


def spread(delays: list[float]) -> str:
    ordered = sorted(delays)
    at = {q: ordered[min(len(ordered) - 1, int(q * len(ordered)))] for q in (0.5, 0.95)}
    middle, high, most = (1000 * part for part in (at[0.5], at[0.95], ordered[-1]))
    return f"median {middle:.0f} ms, p95 {high:.0f} ms, most {most:.0f} ms, n {len(ordered):,}"


def memory_mb(process: subprocess.Popen[str]) -> float:
    text = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+)", text)
    return int(found[1]) / 1024 if found else float("nan")


def latency(watchers: int) -> None:
    with tempfile.TemporaryDirectory() as home:
        logs = Path(home) / "logs"
        source = begin(load(ROOT / "configs" / "agent_island_bots.toml"), Path(home), env={}, stem="source").files
        told, when = told_by(source), dict[int, float]()
        logs.mkdir()
        live = RunFiles(logs, "live").journal
        live.write_bytes(source.journal.read_bytes().splitlines(keepends=True)[0])
        shortened = Path(home) / "rest.jsonl"
        shortened.write_bytes(b"".join(source.journal.read_bytes().splitlines(keepends=True)[1:]))
        with served(logs) as site:
            before = memory_mb(site.process)
            stop, ready = threading.Event(), threading.Event()
            drawn: list[tuple[int, float]] = []
            holder = live.open("ab", buffering=0)
            fcntl.flock(holder, fcntl.LOCK_EX)
            browser = None
            if shutil.which("chromium"):
                browser = threading.Thread(
                    target=lambda: drawn.extend(in_chromium(f"{site.url}/runs/live", stop, ready)), daemon=True
                )
                browser.start()
                ready.wait(60)
            seen: list[list[tuple[int, float]]] = [[] for _ in range(watchers)]

            async def play() -> None:
                done = asyncio.Event()
                tasks = [asyncio.create_task(watched(site, each, done, "live")) for each in seen]
                await asyncio.sleep(2)
                holder.close()
                await asyncio.to_thread(written, shortened, live, told, when)
                await asyncio.sleep(2)
                await asyncio.gather(*tasks)

            asyncio.run(play())
            stop.set()
            if browser is not None:
                browser.join(30)
            after = memory_mb(site.process)
        delays = [at - when[seq] for each in seen for seq, at in each if seq in when]
        whole = sum(len({seq for seq, _ in each} & when.keys()) == len(when) for each in seen)
        print(f"{watchers} watchers of {len(when)} events, one decision each {1000 * PACE_S:.0f} ms; "
              f"{whole} saw all of them")  # fmt: skip
        print(f"journal to socket:   {spread(delays)}")
        if drawn:
            print(f"journal to document: {spread([at - when[seq] for seq, at in drawn if seq in when])} (Chromium)")
        print(f"server's memory: {before:.0f} MB at rest, {after:.0f} MB with {watchers + bool(drawn)} pages")


SCENARIO = """\
game = "agent_island"
seed = 5
[defaults]
model = "fake/echo"
[providers.fake]
base_url = "{url}"
[[players]]
id = "p"
count = 7
"""


def cost(pairs: int, watchers: int) -> None:
    ratios = []
    with tempfile.TemporaryDirectory() as home, FakeServer(varied_by_schema, latency_s=0.05).in_thread() as server:
        logs = Path(home) / "logs"
        logs.mkdir()
        config = Path(home) / "island.toml"
        config.write_text(SCENARIO.format(url=server.url()), encoding="utf-8")

        def run(name: str) -> float:
            command = [sys.executable, "-m", "agentsim", "run", "--config", str(config), "--name", name]
            command += ["--logs-dir", str(logs), "--display", "none", "--no-html"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return read_journal(RunFiles(logs, name).journal).wall_s

        with served(logs) as site:
            for pair in range(pairs):
                took = {}
                for is_watched in (True, False) if pair % 2 else (False, True):
                    name = f"run{pair}{'w' if is_watched else 'a'}"
                    if is_watched:
                        thread = threading.Thread(target=lambda name=name: asyncio.run(_all(site, watchers, name)))
                        thread.start()
                    took[is_watched] = run(name)
                    if is_watched:
                        thread.join(60)
                ratios.append(took[True] / took[False])
    mean = statistics.fmean(ratios)
    error = statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else float("nan")
    print(f"a run with {watchers} watchers takes {100 * (mean - 1):+.1f}% longer than alone "
          f"(standard error {100 * error:.1f}, {len(ratios)} pairs in alternating order)")  # fmt: skip


async def _all(site: ServedSite, watchers: int, name: str) -> None:
    journal = RunFiles(site.logs, name).journal
    await asyncio.to_thread(until, lambda: journal.is_file() and journal.stat().st_size, "the journal")
    done = asyncio.Event()
    await asyncio.gather(*(watched(site, [], done, name) for _ in range(watchers)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--watchers", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=5)
    given = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    latency(given.watchers)
    if given.pairs:
        cost(given.pairs, given.watchers)
    print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
