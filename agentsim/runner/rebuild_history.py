"""Rebuild history: a finished game's missing or damaged history is made again from its journal. No player is asked.

A journal is appended to and synced, a history is derived: of the two the journal is believed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from agentsim.errors import JournalMismatch, UsageError
from agentsim.history.contents import read_head, read_journal
from agentsim.history.files import RunFiles, write_whole
from agentsim.history.fold import dump_history
from agentsim.history.journal import Journal
from agentsim.history.load import load_history
from agentsim.history.record import FINISHED, FORMAT
from agentsim.history.texts import text_id
from agentsim.runner.provenance import volatile_of
from agentsim.runner.replay import replayed

__all__ = ["over", "rebuilt", "unfit"]

_TAIL = 4096


def over(files: RunFiles) -> bool:
    """Whether a game has come to its end, told from the journal's last line, without reading the rest."""
    try:
        with files.journal.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            tail = file.read()
        line: Any = json.loads(tail.rstrip(b"\n").rpartition(b"\n")[2])
        return tail.endswith(b"\n") and line["record"] == "stop" and line["status"] in FINISHED
    except (OSError, ValueError, KeyError, TypeError):
        return False


def unfit(files: RunFiles, *, closely: bool = False) -> str | None:
    """What is wrong with the history beside the journal of a game that is over; None where it is that game's.

    Its head is looked at, and that it is JSON to its end; `closely`, which takes twice as long, every record as well,
    and that it is the file that the journal names.
    """
    if not files.history.is_file():
        return "is missing"
    try:
        raw = files.history.read_bytes()
        found = from_json(raw, allow_inf_nan=False)
    except (OSError, ValueError):
        return "is broken"
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        return "is none"
    head = read_head(files.journal)
    if any(found.get(key) != head[key] for key in ("game", "rules_version", "seed")):
        return "is another game's"
    if str(found.get("status")) not in FINISHED:
        return "is older than the game's end"
    if closely:
        try:
            load_history(files.history)
        except UsageError:
            return "is broken"
        if read_journal(files.journal).history not in {None, text_id(raw.decode())}:
            return "is not what was written"
    return None


def rebuilt(files: RunFiles) -> Mapping[str, Any]:
    """The history of a game that is over, played again from its journal and written.

    Raises `JournalError` where the journal cannot be used or does not end the game, `ReplayDiffers` where it says more.
    """
    recorded = read_journal(files.journal)
    again = replayed(files.name, recorded)
    if again.finished is None:
        raise JournalMismatch(f"{files.journal.name} says that the game is over, and its decisions do not end it")
    volatile = volatile_of(again.scenario, recorded, files.name, recorded.stops[-1]["at"], recorded.wall_s)
    history = again.folded(again.finished, volatile)
    text = dump_history(history)
    end = recorded.stops[-1]
    if end.get("history", text_id(text)) != text_id(text):  # other limits, say: the journal names what is written now
        journal = Journal.reopen(files.journal)
        journal.stopped(end["status"], end["at"], 0.0, text_id(text))
        journal.close()
    write_whole(files.history, text)
    return history
