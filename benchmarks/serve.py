"""The site under load: the time from the journal to pages that stand open, and what watching costs a run.

    python -m benchmarks.serve [--watchers 50] [--seats 8] [--pairs 5]

A game of people is played and served by one process (`agentsim run --serve`). Its people answer by forms and read the
streams of their seats; watchers read the run's stream over sockets; one more is a page in Chromium, where it is
installed, which says when an event stands in the document. When a decision stands in the journal, a process of its own
sees. For the cost, an island of seven models behind a loopback server with a fixed latency is played alone and
watched in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout

from agentsim.records.journal import read_journal
from agentsim.records.run_files import RunFiles
from agentsim.runs.game_in_progress import GameInProgress
from tests.cli.command_line import program
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.server.site import ServedSite, Started, answer_to, people, served, until

THINK_S = 0.2
DECISION = re.compile(rb'"record":"decision","index":(\d+)')
EVENT = re.compile(rb'<article class="event[^"]*" id="e(\d+)"')


def told_by(files: RunFiles) -> dict[int, int]:
    """Return how many events had been told after each wave, by the index of the wave's last decision."""
    contents = read_journal(files.journal)
    played = GameInProgress.of_journal(contents)
    play = played.play
    found, last = {}, 0
    for wave in played.replay(contents):
        if last:
            found[last] = len(play.log)
        last = max((entry.index for entry in wave.records.values()), default=0)
    found[last] = len(play.log)
    play.close()
    return found


def tailed(journal: Path, found: Connection) -> None:
    """Record when each decision first stood in a journal, and send the times by index. Runs in its own process."""
    when, size, text = dict[int, float](), 0, b""
    while not found.poll(0.001):
        if journal.stat().st_size == size:
            continue
        now = time.time()
        with journal.open("rb") as file:
            file.seek(size)
            new = file.read()
        size, text = size + len(new), text + new
        whole, _, text = text.rpartition(b"\n")
        for index in DECISION.findall(whole):
            when.setdefault(int(index), now)
    found.send(when)


async def watched(site: ServedSite, seen: list[tuple[int, float]], done: asyncio.Event, name: str) -> None:
    """Read one stream, and record when each event came."""
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
    """Return the time at which each event stood in the document of a real browser."""
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


def interpreted(*words: str, **streams: Any) -> subprocess.Popen[str]:
    """Start the command in an interpreter of its own: the processes of tests share memory that is not theirs."""
    return subprocess.Popen(program(*words), text=True, **streams)


def memory_mb(process: Started) -> float:
    text = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+)", text)
    return int(found[1]) / 1024 if found else float("nan")


async def seated(site: ServedSite, link: str, seen: list[tuple[int, float]]) -> None:
    """Play one person: take part, read the stream of the seat, and answer each question after `THINK_S`."""

    async def send(session: ClientSession, **form: str) -> None:
        async with session.post(site.url + link, data=form, allow_redirects=False) as answer:
            assert answer.status == 303, await answer.text()

    async def think(session: ClientSession, form: dict[str, str]) -> None:
        await asyncio.sleep(THINK_S)  # in its own task, since the stream is read meanwhile
        await send(session, **form)

    answers = set[asyncio.Task[None]]()
    async with ClientSession(timeout=ClientTimeout(None), read_bufsize=1 << 20) as session:
        await send(session, **{"seat-step": "agree"})
        async with session.get(f"{site.url}{link}/stream?from=") as stream:
            answered, text = "", ""
            async for piece in stream.content.iter_any():
                now = time.time()
                text += piece.decode()
                whole, end, text = text.rpartition("\n\n")
                seen.extend((int(seq), now) for seq in EVENT.findall((whole + end).encode()))
                for asked in re.findall(r'name="seat-decision" value="(\d+)"', whole):
                    if asked == answered:
                        continue
                    answered = asked
                    answers.add(asyncio.create_task(think(session, answer_to(whole, "Keep me."))))
                if "event: end" in whole or 'data-stage="done"' in whole:
                    return


def latency(watchers: int, seats: int) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        people(Path(folder), seats, name="live", start=interpreted) as (site, links),
    ):
        files = RunFiles(site.logs, "live")
        before = memory_mb(site.process)
        here, there = Pipe()
        tail = Process(target=tailed, args=(files.journal, there), daemon=True)
        tail.start()
        stop, ready = threading.Event(), threading.Event()
        drawn: list[tuple[int, float]] = []
        browser = None
        if shutil.which("chromium"):
            page = f"{site.url}/runs/live"
            browser = threading.Thread(target=lambda: drawn.extend(in_chromium(page, stop, ready)), daemon=True)
            browser.start()
            ready.wait(60)
        seen: list[list[tuple[int, float]]] = [[] for _ in range(watchers)]
        heard: list[list[tuple[int, float]]] = [[] for _ in links]

        async def play() -> None:
            done = asyncio.Event()
            tasks = [asyncio.create_task(watched(site, each, done, "live")) for each in seen]
            await asyncio.sleep(2)
            await asyncio.gather(*(seated(site, *each) for each in zip(links, heard, strict=True)))
            await asyncio.gather(*tasks)

        asyncio.run(play())
        after = memory_mb(site.process)
        stop.set()
        if browser is not None:
            browser.join(30)
        here.send("that is all")
        decided = here.recv()
        when = known(told_by(files), decided)
    whole = sum(len({seq for seq, _ in each} & when.keys()) == len(when) for each in seen)
    print(f"{watchers} watchers and {seats} seats of {len(when)} events, each person answers after "
          f"{1000 * THINK_S:.0f} ms; {whole} watchers saw all of them")  # fmt: skip
    for name, pages in (("watcher's socket", seen), ("seat's socket", heard), ("document (Chromium)", [drawn])):
        if delays := [at - when[seq] for each in pages for seq, at in each if seq in when]:
            print(f"journal to {name + ':':20} {spread(delays)}")
    print(f"server's memory: {before:.0f} MB at rest, {after:.0f} MB with {watchers + seats + bool(drawn)} pages")


def known(told: Mapping[int, int], decided: Mapping[int, float]) -> dict[int, float]:
    """Return the earliest time at which each event could be known: that of the last decision before it."""
    when, shown = dict[int, float](), min(told.values())
    for index, upto in sorted(told.items()):
        for seq in range(shown + 1, upto + 1):
            when[seq] = decided[index]
        shown = max(shown, upto)
    return when


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

        with served(logs, start=interpreted) as site:
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
    parser.add_argument("--seats", type=int, default=8)
    parser.add_argument("--pairs", type=int, default=5)
    given = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    latency(given.watchers, given.seats)
    if given.pairs:
        cost(given.pairs, given.watchers)
    print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
