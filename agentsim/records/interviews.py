"""Later interviews: what players of a run were asked after it was played, each in a file of its own beside the history.

`NAME.LABEL.interview` has the lines of a journal: a head with the questions and the moments, and the surveys as
decisions. `runs.interview` writes it; tables and pages show it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agentsim.engine.codec import adapter
from agentsim.engine.survey import SurveyQuestion
from agentsim.errors import AgentsimError, UsageError, first_objection
from agentsim.lazy import dataclass
from agentsim.records.journal import DecisionRecord, JournalContents, read_journal
from agentsim.records.run_files import INTERVIEW, RunFiles, check_name

QUESTIONS: type[Any] = tuple[SurveyQuestion, ...]


@dataclass(frozen=True)
class LaterInterview:
    """The answers to one later interview; `models` are those that gave them, by player."""

    label: str
    questions: tuple[SurveyQuestion, ...]
    decisions: tuple[DecisionRecord, ...]
    models: Mapping[str, str]


def interview_path(files: RunFiles, label: str) -> Path:
    """Return the path of a later interview. Raises `UsageError` if the label cannot be a part of a file's name."""
    check_name(label)
    if "." in label:
        raise UsageError(f"--label {label}: cannot contain a dot")
    return files.directory / f"{files.name}.{label}{INTERVIEW}"


def later_interviews(files: RunFiles) -> list[LaterInterview]:
    """Read the later interviews of a run, in the order of their labels. Warns of one that cannot be read."""
    found = []
    for path in files.beside(INTERVIEW):
        label = path.name.removeprefix(f"{files.name}.").removesuffix(INTERVIEW)
        if "." in label or not path.stat().st_size:
            continue  # of the run `NAME.x`, or begun by a process that was killed
        try:
            found.append(interview_of(label, read_journal(path)))
        except AgentsimError as error:
            warnings.warn(f"{path}: left out, since it is not a readable interview: {error}", stacklevel=2)
    return found


def interview_of(label: str, recorded: JournalContents) -> LaterInterview:
    """Return the interview in a file. Raises `UsageError` if its head has none."""
    try:
        questions = adapter(QUESTIONS).validate_python(recorded.head["interview"]["questions"], strict=False)
        models = {str(each["id"]): str(each["model"]) for each in recorded.head["interview"]["models"]}
    except ValidationError as error:
        raise UsageError(": ".join(first_objection(error))) from None
    except (KeyError, TypeError) as error:
        raise UsageError(f"missing {error}") from None
    return LaterInterview(label, questions, tuple(_whole(recorded)), models)


def _whole(recorded: JournalContents) -> Iterator[DecisionRecord]:
    for _, decision in sorted(recorded.decisions.items()):
        if decision.survey is not None:
            yield decision


def head_of_interview(questions: Sequence[SurveyQuestion], at: Sequence[int | None], models: Mapping[str, str]) -> Any:
    """Return the part of an interview's head that says what is asked, when, and who answers, as JSON values."""
    return {
        "at": list(at),
        "questions": [each.model_dump(mode="json", exclude_defaults=True) for each in questions],
        "models": [{"id": player, "model": model} for player, model in models.items()],
    }
