"""Runs that the server's own process plays: started, stopped, resumed, and the command line that plays and serves."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentsim.engine.request import Ask
from agentsim.errors import UsageError
from agentsim.models.keys import Variables
from agentsim.records.journal import read_journal
from agentsim.records.run_files import RunFiles
from agentsim.runs.replay import prove
from agentsim.runs.run import Run, RunOptions, create_run
from agentsim.server import hosting
from agentsim.server.site import Site
from tests.cli.command_line import TRIO, agentsim, trio
from tests.cli.processes import CommandProcess
from tests.fakes.replies import first_by_schema
from tests.fakes.server import FakeServer
from tests.runs.island import BOTS, FOUR, scenario_text

NOTHING = Variables({})


def start(site: Site, scenario: Path) -> hosting.HostedRun:
    """Play a scenario beside a server."""
    given = create_run(scenario, site.logs_dir, RunOptions(NOTHING, served=True), name="run")
    return hosting.host(site, given)


def stable(files: RunFiles) -> dict[str, object]:
    history: dict[str, object] = json.loads(files.history.read_text(encoding="utf-8"))
    del history["volatile"]
    return history


def test_a_hosted_run_is_the_game_that_the_command_line_plays(tmp_path: Path) -> None:
    async def hosted() -> RunFiles:
        site = Site(tmp_path / "hosted")
        run = start(site, trio(tmp_path))
        assert site.hosted == {tmp_path / "hosted" / "run.jsonl": run}
        result = await run.ended()
        assert (result.status, run.playing, run.result, run.trouble) == ("completed", False, result, None)
        return run.files

    files = asyncio.run(hosted())
    assert agentsim("run", "trio.toml", "--name", "run", cwd=tmp_path).code == 0
    assert stable(files) == stable(RunFiles(tmp_path / "logs", "run"))
    prove(files)


def test_every_decision_that_is_not_on_record_passes_the_gate_and_no_other(tmp_path: Path) -> None:
    class Counting(hosting.HostedRun):
        most = 2

        async def before_decision(self, ask: Ask) -> None:
            passed.append(ask.index)
            if len(passed) >= self.most:
                held.set()
                await asyncio.Event().wait()

    passed: list[int] = []
    held = asyncio.Event()

    def opened() -> Counting:
        return Counting(create_run(scenario, tmp_path, RunOptions(NOTHING), name="run"))

    async def first() -> None:
        run = opened()
        run.start()
        await held.wait()
        assert run.playing
        await run.stop()
        assert run.result is not None
        assert run.result.status == "interrupted"

    async def rest() -> list[int]:
        site, seen = Site(tmp_path), list(passed)
        passed.clear()
        Counting.most = 1_000
        files = RunFiles(tmp_path, "run")
        found = Run.open(files, RunOptions(NOTHING))
        run = site.hosted[files.journal] = Counting(found)
        run.start()
        assert (await run.ended()).status == "completed"
        return seen

    scenario = trio(tmp_path)
    asyncio.run(first())
    decided = [entry.index for entry in read_journal(tmp_path / "run.jsonl").decisions.values()]
    assert decided == [1]  # the second was held before its decision
    assert asyncio.run(rest()) == [1, 2]
    assert passed == [*range(2, len(passed) + 2)]
    prove(RunFiles(tmp_path, "run"))


def test_a_pause_uses_up_none_of_the_time_of_a_moment(tmp_path: Path) -> None:
    """Who has not begun when the pause comes has the whole time of `wave_deadline_s` after it."""

    class Pausing(hosting.HostedRun):
        paused = False

        async def before_decision(self, ask: Ask) -> None:
            if not self.paused:
                self.paused = True
                await asyncio.sleep(2.5)

    with FakeServer(first_by_schema).in_thread() as server:
        text = "[limits]\nwave_deadline_s = 2.0\n"
        (tmp_path / "island.toml").write_text(scenario_text(server.url()) + text, encoding="utf-8")

        async def play() -> RunFiles:
            given = create_run(tmp_path / "island.toml", tmp_path, RunOptions(NOTHING), name="run")
            run = Pausing(given)
            run.start()
            await run.ended()
            return run.files

        files = asyncio.run(play())
    reasons = {each.fallback_reason for each in read_journal(files.journal).decisions.values()}
    assert "wave_deadline" not in reasons


def test_a_run_that_was_stopped_is_resumed_beside_the_server_as_the_same_game(tmp_path: Path) -> None:
    with FakeServer(first_by_schema, latency_s=0.02).in_thread() as server:
        config = tmp_path / "island.toml"
        config.write_text(scenario_text(server.url(), '[[players]]\nid = "A"\n' + BOTS), encoding="utf-8")

        async def stopped_and_resumed() -> None:
            site = Site(tmp_path / "cut")
            run = start(site, config)
            while not server.completed:  # noqa: ASYNC110 - its events are of another loop
                await asyncio.sleep(0.005)
            with pytest.raises(UsageError, match="played here already"):
                await hosting.resume(site, run.files, env=NOTHING)
            await hosting.stop_all(site)
            assert run.result is not None
            assert run.result.status == "interrupted"
            again = await hosting.resume(site, run.files, env=NOTHING)
            assert site.hosted[tmp_path / "cut" / "run.jsonl"] is again
            assert (await again.ended()).status == "completed"
            with pytest.raises(UsageError, match="run: is finished"):
                await hosting.resume(site, run.files, env=NOTHING)

        asyncio.run(stopped_and_resumed())
        assert agentsim("run", "island.toml", "--name", "run", cwd=tmp_path).code == 0
    assert stable(RunFiles(tmp_path / "cut", "run")) == stable(RunFiles(tmp_path / "logs", "run"))


def test_what_is_said_at_once_to_a_run_that_goes_on_comes_before_its_first_open_moment(tmp_path: Path) -> None:
    """Nothing that was decided before could have heard it, and a journal that said so would be refused."""
    with FakeServer(first_by_schema, latency_s=0.02).in_thread() as server:
        config = tmp_path / "island.toml"
        config.write_text(scenario_text(server.url(), FOUR), encoding="utf-8")

        async def said_at_once() -> tuple[RunFiles, int, int]:
            site = Site(tmp_path / "logs")
            run = start(site, config)
            while server.completed.total() < 5:  # noqa: ASYNC110 - its events are of another loop
                await asyncio.sleep(0.005)
            await run.stop()
            begun, calls = run.run.journal.contents.last_begun_wave, len(server.received)
            again = await hosting.resume(site, run.files, env=NOTHING)
            await again.control.announce("Be brief.")
            assert (await again.ended()).status == "completed"
            with pytest.raises(UsageError, match="the run is over"):
                await again.control.announce("Too late.")
            return again.files, begun, calls

        files, begun, calls = asyncio.run(said_at_once())
        steered = read_journal(files.journal).steered
        assert [min(steered) - begun, len(steered)] in ([1, 1], [2, 1])  # the moment that was open, or the next one
        prompts = ["Be brief." in json.dumps(each.body) for each in server.received]
        assert not any(prompts[:calls])
        assert any(prompts[calls:])
    prove(files)


@contextmanager
def running(*words: str, cwd: Path) -> Iterator[CommandProcess]:
    """The command in a process of its own, which is ended with the block."""
    process = CommandProcess(*words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def body(address: str) -> str:
    with urllib.request.urlopen(address, timeout=20) as answer:
        text: str = answer.read().decode()
        return text


def test_run_serve_prints_the_address_then_the_result_and_answers_until_it_is_interrupted(tmp_path: Path) -> None:
    trio(tmp_path)
    with running("run", "trio.toml", "--serve", "--port", "0", "--name", "one", cwd=tmp_path) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        assert process.stdout.readline() == "one: completed, agent_island, seed 7\n"
        assert "Agent Island" in body(f"{address}/runs/one")
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    assert (tmp_path / "logs" / "one.html").is_file()
    with running("resume", "one", "--serve", "--port", "0", cwd=tmp_path) as process:  # there is nothing to play
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert process.stdout.readline() == "one: completed, agent_island, seed 7\n"
        assert "completed" in body(address)


def test_with_json_stdout_has_the_one_line_and_stderr_the_address(tmp_path: Path) -> None:
    trio(tmp_path)
    words = ("run", "trio.toml", "--serve", "--port", "0", "--json", "--display", "none")
    with running(*words, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stderr.readline().startswith("http://127.0.0.1:")
        assert process.stderr.readline().startswith("to steer: http://127.0.0.1:")
        assert json.loads(process.stdout.readline())["status"] == "completed"
        process.terminate()
        out, err = process.communicate(timeout=20)
    assert (out, err, process.returncode) == ("", "", 0)


def test_a_signal_stops_the_game_that_is_served_so_that_it_can_be_resumed(tmp_path: Path) -> None:
    with FakeServer(first_by_schema, latency_s=0.2).in_thread() as server:
        (tmp_path / "island.toml").write_text(scenario_text(server.url()), encoding="utf-8")
        words = ("run", "island.toml", "--serve", "--port", "0", "--name", "cut", "--display", "none")
        with running(*words, cwd=tmp_path) as process:
            assert process.stdout is not None
            process.stdout.readline()
            while not server.completed:
                assert process.poll() is None
            process.terminate()
            _, err = process.communicate(timeout=20)
        assert process.returncode == 143
        assert "go on with: agentsim resume cut" in err
        server.latency_s = 0.0
        assert agentsim("resume", "cut", cwd=tmp_path).code == 0


def test_a_port_without_a_server_and_a_served_batch_are_refused(tmp_path: Path) -> None:
    trio(tmp_path, TRIO)
    said = agentsim("run", "trio.toml", "--port", "0", cwd=tmp_path)
    assert (said.code, said.line) == (2, "--port: is the server's; add --serve")
    assert agentsim("batch", "--config", "trio.toml", "--games", "2", "--out", "b", cwd=tmp_path).code == 0
    said = agentsim("resume", "b", "--serve", cwd=tmp_path)
    assert (said.code, said.line) == (2, "--record, --replay-replies and --serve are for single runs")


def test_at_an_address_of_other_machines_a_seat_needs_its_link_and_all_else_a_key(tmp_path: Path) -> None:
    text = TRIO.replace('"bot/random"', '"web"', 1)
    trio(tmp_path, text)
    words = ("run", "trio.toml", "--serve", "--port", "0", "--host", "0.0.0.0", "--name", "one", "--display", "none")
    with running(*words, cwd=tmp_path) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip().rpartition(":")[2]
        path = "/seat/" + process.stdout.readline().strip().rpartition("/")[2]
        assert "Take part" in body(f"http://127.0.0.1:{port}{path}")
        for closed in ("/", "/runs/one", "/seat/guessed"):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                body(f"http://127.0.0.1:{port}{closed}")
