"""Files of another version of agentsim: every command rejects them in one line that names the version."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agentsim import __version__
from agentsim.engine.reading import READER_VERSION
from agentsim.errors import OtherVersion
from agentsim.records.journal import read_journal
from agentsim.records.load import load_history
from agentsim.records.versions import HISTORY_FORMAT, JOURNAL_FORMAT, require_version
from tests.amounts import each_row
from tests.cli.command_line import agentsim, snapshot, trio
from tests.fakes.journals import change_line

WRITTEN = Path(__file__).parent.parent / "golden" / "0.1.0"
"""A run, its bundle, a pool and a manifest of version 0.1.0."""
JOURNAL = f"agentsim-journal/1 there, {JOURNAL_FORMAT} here"
HISTORY = f"agentsim-history/1 there, {HISTORY_FORMAT} here"
COMMANDS = {
    "resume": (("resume", "island"), JOURNAL),
    "replay": (("replay", "island"), JOURNAL),
    "replay a bundle": (("replay", "logs/island.zip"), JOURNAL),
    "logs": (("logs", "--filename", "island"), HISTORY),
    "logs of one player": (("logs", "island", "--as-seen-by", "A"), HISTORY),
    "export": (("export", "island"), HISTORY),
    "export conversations": (("export", "island", "--format", "chat-jsonl"), HISTORY),
    "export for Inspect": (("export", "island", "--format", "inspect"), HISTORY),
    "export a folder": (("export", "logs"), HISTORY),
    "report": (("report", "logs"), HISTORY),
    "pool": (("pool", "logs", "--out", "new.json"), HISTORY),
    "fork": (("fork", "island", "--at", "2"), JOURNAL),
    "influence": (("influence", "island", "--at", "2", "--branches", "2"), JOURNAL),
    "compare": (("compare", "island"), HISTORY),
    "diff": (("diff", "island", "island"), HISTORY),
    "watch": (("watch", "island"), JOURNAL),
    "bundle": (("bundle", "island", "--out", "new.zip"), JOURNAL),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder whose `logs` are those of 0.1.0."""
    (tmp_path / "logs").mkdir()
    for name in ("island.json", "island.jsonl", "island.zip"):
        shutil.copy(WRITTEN / name, tmp_path / "logs")
    return tmp_path


@pytest.mark.parametrize(("words", "differs"), COMMANDS.values(), ids=COMMANDS)
def test_a_run_of_0_1_0_is_refused_in_one_line_that_names_the_version(
    folder: Path, words: tuple[str, ...], differs: str
) -> None:
    before = snapshot(folder)
    said = agentsim(*words, cwd=folder)
    assert (said.code, said.out) == (2, "")
    plays = f"was written by agentsim 0.1.0, and that version plays it; this is agentsim {__version__} ({differs})"
    assert plays in said.line
    assert snapshot(folder) == before


def test_a_listing_shows_it_as_unreadable_and_says_why(folder: Path) -> None:
    (line,) = json.loads(agentsim("runs", "--json", cwd=folder).out)
    assert (line["name"], line["status"]) == ("island", "unreadable")
    assert "was written by agentsim 0.1.0, and that version plays it" in line["trouble"]
    assert "island  -        unreadable" in agentsim("runs", cwd=folder).out
    (folder / "logs" / "island.json").unlink()
    assert "was written by agentsim 0.1.0" in agentsim("runs", "--json", cwd=folder).out


def test_its_replies_are_not_played(folder: Path) -> None:
    trio(folder)
    said = agentsim("run", "--config", "trio.toml", "--replay-replies", "logs/island.jsonl", cwd=folder)
    assert (said.code, "was written by agentsim 0.1.0, and that version plays it" in said.line) == (2, True)


def test_a_pool_and_a_batch_of_0_1_0_are_refused(tmp_path: Path) -> None:
    (tmp_path / "batch").mkdir()
    shutil.copy(WRITTEN / "manifest.json", tmp_path / "batch")
    shutil.copy(WRITTEN / "pool.json", tmp_path)
    for words in (("resume", "batch"), ("rate", "--model", "bot/loyal", "--pool", "pool.json")):
        said = agentsim(*words, cwd=tmp_path)
        assert said.code == 2
        assert "was written by another version of agentsim, and that version plays it" in said.line


CHANGES = {
    "a later format": ({"format": "agentsim-journal/99"}, "{}/99 there, {} here"),
    "other rules": ({"rules_version": 99}, "rules version 99 of agent_island there, 1 here"),
    "another reader": ({"reader": 99}, f"reader version 99 there, {READER_VERSION} here"),
    "both": (
        {"rules_version": 0, "reader": 99},
        f"rules version 0 of agent_island there, 1 here, reader version 99 there, {READER_VERSION} here",
    ),
}


@pytest.mark.parametrize(("change", "differs"), CHANGES.values(), ids=CHANGES)
def test_a_journal_and_a_history_are_of_one_format_one_reader_and_the_rules_that_are_installed(
    project: Path, change: dict[str, Any], differs: str
) -> None:
    journal, history = project / "logs" / "done.jsonl", project / "logs" / "done.json"
    written = {"versions": {"agentsim": "9.1"}}
    change_line(journal, '"record":"run"', lambda head: head.update(change | written))
    found = json.loads(history.read_text("utf-8"))
    found["volatile"] |= written
    history.write_text(json.dumps(found | change).replace("agentsim-journal", "agentsim-history"), "utf-8")
    for read, path, here in ((read_journal, journal, JOURNAL_FORMAT), (load_history, history, HISTORY_FORMAT)):
        with pytest.raises(OtherVersion, match=rf"{path.name}: was written by agentsim 9\.1, and that") as caught:
            read(path)
        assert str(caught.value).endswith(f"({differs.format(here.partition('/')[0], here)})")
        assert caught.value.exit_code == 2


NO_HEADS: list[Any] = [
    *(None, 5, [], {}, {"format": 5}, {"format": "poem/1"}, {"game": "nosuch", "rules_version": 9}, b"{"),
]


@each_row("head", NO_HEADS)
def test_what_is_no_head_of_another_version_is_left_to_its_reader(head: Any) -> None:
    require_version("x", head, written_as=JOURNAL_FORMAT)
