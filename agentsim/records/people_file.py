"""PeopleFile: the people in a run's seats, apart from the journal: links, consent, answers, codes.

It is `NAME.people` beside the run, readable only by its owner: histories, journals and bundles contain nothing of it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from agentsim.engine.panel import Cell, Frame
from agentsim.errors import AgentsimError, first_objection
from agentsim.records.run_files import RunFiles, write_whole

FORMAT = "agentsim-people/1"
PEOPLE = "people"
"""The name of the table of people, which only its owner can read, like their file."""
_COLUMNS = ("arrived_at", "consented_at", "declined_at", "ready_at", "withdrawn_at", "finished_at", "code")
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without letters and digits that look alike


class PersonRecord(BaseModel):
    """The person in one seat. Times are in UTC; `code` is shown at the end, `token` is the secret part of the link."""

    model_config = ConfigDict(extra="forbid")

    token: str
    code: str
    arrived_at: str | None = None
    consented_at: str | None = None
    declined_at: str | None = None
    ready_at: str | None = None
    withdrawn_at: str | None = None
    finished_at: str | None = None
    before: dict[str, int | str] | None = None
    after: dict[str, int | str] | None = None


class PeopleFile:
    """The people of one run, by player. Each change is written to disk before anything follows from it."""

    def __init__(self, files: RunFiles, people: dict[str, PersonRecord]) -> None:
        self.path, self.people = path_of(files), people

    @classmethod
    def load(cls, files: RunFiles) -> PeopleFile | None:
        """Load the people of a run, or None if it has none. Raises `AgentsimError` if the file cannot be read."""
        path = path_of(files)
        try:
            found = json.loads(path.read_text("utf-8"))
            if found["format"] != FORMAT:
                raise ValueError(f"format {str(found['format'])[:40]!r}, this version reads {FORMAT}")
            return cls(files, {name: PersonRecord.model_validate(each) for name, each in found["people"].items()})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            why = ": ".join(first_objection(error)) if isinstance(error, ValidationError) else str(error)
            raise AgentsimError(f"{path}: cannot be read: {why[:200]}") from None

    @classmethod
    def of(cls, files: RunFiles, players: Iterable[str]) -> PeopleFile:
        """Load or create the people of a run's seats; each new one gets a link and a code."""
        found = cls.load(files) or cls(files, {})
        for player in players:
            found.people.setdefault(player, PersonRecord(token=secrets.token_urlsafe(24), code=_code()))
        found.save()
        return found

    def change(self, player: str, **values: Any) -> None:
        """Set fields of one person, and save."""
        self.people[player] = self.people[player].model_copy(update=values)
        self.save()

    def save(self) -> None:
        """Write the file, readable only by its owner."""
        people = {name: each.model_dump(exclude_none=True) for name, each in self.people.items()}
        text = json.dumps({"format": FORMAT, "people": people}, ensure_ascii=False, indent=1) + "\n"
        write_whole(self.path, text, private=True)


def path_of(files: RunFiles) -> Path:
    return files.directory / f"{files.name}.people"


def people_table(runs: Iterable[RunFiles], *, several: bool) -> Frame | None:
    """Return a row for each person of these runs, without links, or None if there are none.

    `several` runs are distinguished by a first column `run`.
    """
    rows: list[dict[str, Cell]] = []
    for files in runs:
        found = PeopleFile.load(files)
        for player, each in found.people.items() if found else ():
            row: dict[str, Cell] = {"run": files.name} if several else {}
            row |= {"player": player, **{name: getattr(each, name) for name in _COLUMNS}}
            for when, answers in (("before", each.before), ("after", each.after)):
                row |= {f"{when}_{name}": value for name, value in (answers or {}).items()}
            rows.append(row)
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return Frame(columns, tuple(tuple(row.get(name) for name in columns) for row in rows)) if rows else None


def _code() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(8))
