"""Every command that sends keys names the target of each, and sends none that its user has not allowed."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from agentsim.runs.batch.executors import play_task
from agentsim.runs.batch.on_dask import OnDask
from agentsim.runs.batch.tally import GameEnd
from tests.cli.command_line import Said, agentsim
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.runs.island import BOTS, Mendable, scenario_text

VARIABLE, VALUE = "AWS_SECRET_ACCESS_KEY", "wJalr-of-a-cloud-0123456789"
ENV = {VARIABLE: VALUE, "LAB_KEY": "sk-of-the-lab-0123456789"}
LEAVE = ("--allow-key", VARIABLE)
RUN = ("run", "--config", "lab.toml", "--name", "parent", "--display", "none", "--no-html")
BATCH = ("batch", "--config", "lab.toml", "--games", "1", "--out", "games", "--display", "none", "--abort-after", "1")


@pytest.fixture(scope="module")
def server() -> Iterator[Mendable]:
    with Mendable(varied_by_schema).in_thread() as running:
        yield running


@pytest.fixture
def lab(server: Mendable, tmp_path: Path) -> Path:
    """Return a folder with a stranger's scenario: one model that names the variable for its key, and bots."""
    text = scenario_text(server.url(), '[[players]]\nid = "A"\n' + BOTS)
    text = text.replace("[providers.fake]\n", f'[providers.fake]\napi_key_env = "{VARIABLE}"\n')
    (tmp_path / "lab.toml").write_text(text, encoding="utf-8")
    server.received.clear()
    server.broken = None
    return tmp_path


def line_of(server: FakeServer, variable: str = VARIABLE) -> str:
    return f"the key in {variable} goes to http://127.0.0.1:{server.port}, as fake"


def stopped(server: Mendable, words: tuple[str, ...], lab: Path) -> None:
    """Run the command with permission, and let the server stop it."""
    server.broken = "http_401"
    assert agentsim(*words, *LEAVE, cwd=lab, env=ENV).code in {1, 3}
    server.broken = None
    server.received.clear()


def refusal(said: Said, server: FakeServer) -> None:
    """Check the refusal: exit code 2, one line with the option that allows the key, and no request."""
    assert said.code == 2
    assert f"providers.fake.api_key_env: {VARIABLE} would be sent as a key to http://127.0.0.1:" in said.line
    assert said.line.endswith(f"--allow-key {VARIABLE} allows it")
    assert VALUE not in said.out + said.err
    assert server.received == []


def sent(said: Said, server: FakeServer) -> None:
    """Check the success: the line on the key's target comes first, and requests have the key."""
    assert said.code == 0, said.err
    assert said.err.count(line_of(server)) == 1
    assert said.err.startswith(f"{line_of(server)}\n")
    assert VALUE not in said.out + said.err
    assert {request.headers["authorization"] for request in server.received} == {f"Bearer {VALUE}"}


def test_validate_refuses_and_says_where_a_key_would_go(server: Mendable, lab: Path) -> None:
    words = ("validate", "--config", "lab.toml")
    refusal(agentsim(*words, cwd=lab, env=ENV), server)
    said = agentsim(*words, *LEAVE, cwd=lab, env=ENV)
    assert (said.code, said.err) == (0, "")
    assert f"\n{line_of(server)}\n" in said.out
    pinged = agentsim(*words, "--ping", cwd=lab, env=ENV)
    assert pinged.code == 3
    assert f"FAILS: {VARIABLE} would be sent as a key to " in pinged.out
    assert server.received == []
    assert agentsim(*words, "--ping", *LEAVE, cwd=lab, env=ENV).code == 0


def test_run_and_fork_refuse_or_say_it(server: Mendable, lab: Path) -> None:
    refusal(agentsim(*RUN, cwd=lab, env=ENV), server)
    assert not (lab / "logs").exists(), "nothing was written"
    sent(agentsim(*RUN, *LEAVE, cwd=lab, env=ENV), server)
    server.received.clear()
    fork = ("fork", "parent", "--at", "5", "--display", "none", "--no-html")
    refusal(agentsim(*fork, cwd=lab, env=ENV), server)
    sent(agentsim(*fork, *LEAVE, cwd=lab, env=ENV), server)


def test_resume_refuses_what_a_journal_asks_for_or_says_it(server: Mendable, lab: Path) -> None:
    stopped(server, RUN, lab)
    resume = ("resume", "parent", "--display", "none", "--no-html")
    refusal(agentsim(*resume, cwd=lab, env=ENV), server)
    sent(agentsim(*resume, *LEAVE, cwd=lab, env=ENV), server)


def test_batch_and_its_resume_refuse_or_say_it(server: Mendable, lab: Path) -> None:
    refusal(agentsim(*BATCH, cwd=lab, env=ENV), server)
    stopped(server, BATCH, lab)
    resume = ("resume", "games", "--display", "none")
    refusal(agentsim(*resume, cwd=lab, env=ENV), server)
    sent(agentsim(*resume, *LEAVE, cwd=lab, env=ENV), server)


class Here:
    """A cluster of one thread of this process, with the methods that a batch uses; it keeps the tasks."""

    def __init__(self) -> None:
        self.tasks: list[dict[str, Any]] = []

    def submit(self, play: Callable[[dict[str, Any]], GameEnd], task: dict[str, Any], **_: Any) -> Here:
        self.tasks.append(json.loads(json.dumps(task)))
        return self

    async def result(self) -> GameEnd:
        return await asyncio.to_thread(play_task, self.tasks[-1])

    def scheduler_info(self) -> dict[str, Any]:
        return {"workers": ["one"]}

    async def cancel(self) -> None:
        """Do nothing, since the task has ended."""

    close = cancel


def test_a_cluster_is_sent_the_leave_and_not_the_key(
    server: Mendable, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Here()

    async def found(self: OnDask) -> int:
        self._client = cast("Any", cluster)
        return 1

    monkeypatch.setattr(OnDask, "open", found)
    monkeypatch.setattr("agentsim.cli.batch.find_spec", lambda _name: True)
    words = (*BATCH, "--executor", "dask")
    refusal(agentsim(*words, cwd=lab, env=ENV), server)
    sent(agentsim(*words, *LEAVE, cwd=lab, env=ENV), server)
    assert [task["allowed"] for task in cluster.tasks] == [[VARIABLE]]
    assert VALUE not in json.dumps(cluster.tasks)
    server.received.clear()
    monkeypatch.setattr(os, "environ", {**os.environ, **ENV})
    end = play_task({**cluster.tasks[0], "name": "another", "allowed": []})
    assert f"--allow-key {VARIABLE} allows it" in str(end.error)
    assert server.received == []


def test_a_key_by_its_name_needs_no_leave_and_is_said_too(server: Mendable, lab: Path) -> None:
    config = lab / "lab.toml"
    config.write_text(config.read_text(encoding="utf-8").replace(VARIABLE, "LAB_KEY"), encoding="utf-8")
    said = agentsim(*RUN, cwd=lab, env=ENV)
    assert (said.code, said.err) == (0, f"{line_of(server, 'LAB_KEY')}\n")


def test_replies_from_a_file_send_no_key_and_ask_for_no_leave(server: Mendable, lab: Path) -> None:
    assert agentsim(*RUN, *LEAVE, "--record", "tape.jsonl", cwd=lab, env=ENV).code == 0
    server.received.clear()
    said = agentsim(*RUN[:4], "again", *RUN[5:], "--replay-replies", "tape.jsonl", cwd=lab, env=ENV)
    assert (said.code, said.err, server.received) == (0, "", [])


def test_plain_http_to_another_machine_is_a_warning(lab: Path) -> None:
    words = ("validate", "--config", "lab.toml", "--set", "providers.fake.base_url=http://gpu1.example:8000/v1")
    said = agentsim(*words, *LEAVE, cwd=lab, env=ENV)
    assert f"warning: the key in {VARIABLE} goes to http://gpu1.example:8000, as fake, unencrypted" in said.out


def test_what_is_let_go_is_a_name_and_a_key_in_its_place_is_not_repeated(lab: Path) -> None:
    said = agentsim(*RUN, "--allow-key", "sk-of-somebody", cwd=lab, env=ENV)
    assert said.code == 2
    assert said.line == "--allow-key: must be the name of an environment variable, never the key itself"
