"""Runs of one name in two batches: each is steered as itself, and all are stopped in order with the server."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from agentsim.records.journal import read_journal
from agentsim.records.run_files import RunFiles
from tests.cli.command_line import TRIO, agentsim
from tests.server.site import Held, served, until

pytestmark = pytest.mark.usefixtures("without_workers")

SAID = "For the first batch alone."
PROVIDER = '[providers.fake]\nbase_url = "{url}"\n'


def test_two_batches_runs_of_one_name_are_two_runs(tmp_path: Path) -> None:
    with Held().in_thread() as held:
        (tmp_path / "trio.toml").write_text(TRIO + PROVIDER.format(url=held.url()), encoding="utf-8")
        batches = ("one", "two")
        for seed, batch in enumerate(batches):
            words = ("--games", "1", "--out", f"logs/{batch}", "--set", f"seed={seed}", "--display", "none")
            assert agentsim("batch", "trio.toml", *words, cwd=tmp_path).code == 0
        (tmp_path / "configs").mkdir()
        with served(tmp_path / "logs") as site:
            branches = []
            for batch in batches:
                form = {"at": "3", "player": "A", "model": "fake/echo"}
                answer = site.steer(f"/batches/{batch}/runs/game_0001/steer/fork", form)
                assert answer.status == 303, answer.text
                branches.append(RunFiles(tmp_path / "logs" / batch, answer.headers["Location"].rpartition("/")[2]))
            first, second = branches
            assert first.name == second.name
            until(lambda: len(held.received) == 2, "both wait for their first call")
            for act, form in (("announce", {"said": SAID}), ("stop", {})):
                answer = site.steer(f"/batches/one/runs/{first.name}/steer/{act}", form)
                assert answer.status == 303, answer.text
            assert SAID in json.dumps([d.model_dump() for w in read_journal(first.journal).steered.values() for d in w])
            assert read_journal(first.journal).stops[-1].status == "interrupted"
            assert not read_journal(second.journal).steered
            assert not read_journal(second.journal).stops
            site.process.send_signal(signal.SIGTERM)
            site.process.wait(20)
            assert read_journal(second.journal).stops[-1].status == "interrupted"
