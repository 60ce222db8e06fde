"""Golden playthroughs as text, and a journal of each game that must replay.

`python -m tests.contract.golden` rewrites the texts, and writes a journal if there is none of this version; review
the diff. A journal that cannot be replayed means that rules changed, which needs a new `rules_version`.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from agentsim.engine.codec import text_id
from agentsim.errors import OtherVersion
from agentsim.records.history import History, dump_history
from agentsim.records.journal import HashChain, read_journal
from agentsim.records.run_files import RunFiles
from agentsim.testing import CHECKS
from tests.contract.harness import GAMES, on_server
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer

GOLDEN = Path(__file__).parent.parent / "golden"


def record(name: str, directory: Path) -> RunFiles:
    """Play the tiny game on a fake model, and write a journal and a history without paths and ports of this machine."""
    with tempfile.TemporaryDirectory() as scratch, FakeServer(varied_by_schema).in_thread() as server:
        result = on_server(name, server.url(), Path(scratch), stem=name)
        assert result.status == "completed", result.error
        journal = [json.loads(line) for line in result.files.journal.read_text(encoding="utf-8").splitlines()]
        _without_machine(journal[0]["run"])
        history = json.loads(result.files.history.read_text(encoding="utf-8"))
    files = RunFiles(directory, name)
    _without_machine(history["volatile"]["run"])
    dumped = dump_history(History.model_validate(history))
    files.history.write_text(dumped, encoding="utf-8")
    journal[-1]["history"] = text_id(dumped)
    chain = HashChain()
    with files.journal.open("wb") as out:
        for line in journal:
            del line["chain"]
            out.write(chain.sealed(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()))
    return files


def _without_machine(run: dict[str, Any]) -> None:
    run["base_urls"] = {"fake": "http://127.0.0.1:9/v1"}
    run["paths"]["config"] = "/tiny.toml"


def is_recorded(files: RunFiles) -> bool:
    """Return whether there is a journal of this version."""
    try:
        return files.journal.exists() and bool(read_journal(files.journal).head)
    except OtherVersion:
        return False


def main() -> None:
    """Write every game's golden files."""
    for name in GAMES:
        if not is_recorded(RunFiles(GOLDEN, name)):
            record(name, GOLDEN)
        CHECKS["golden_files"](name, golden=GOLDEN, update=True)


if __name__ == "__main__":
    main()
