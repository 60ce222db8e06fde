"""Messages of players: what a decision said to others, who heard it, and the decision with other words or none.

The message of a decision follows from the events with `words` that it led to and that another player heard.
`studies.influence` measures what listeners did then.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from agentsim.engine.codec import Path, json_fields, paths_in, text_id, value_at, with_value
from agentsim.engine.decision import Decision
from agentsim.engine.event import EveryoneType, LoggedEvent, PlayerId
from agentsim.engine.options import LegalValues, Text, Variant, bare_field, leaves
from agentsim.engine.request import Request
from agentsim.engine.wording import CUT, counted
from agentsim.errors import DecisionError, UsageError
from agentsim.lazy import dataclass
from agentsim.records.journal import read_journal
from agentsim.records.run_files import RunFiles
from agentsim.runs.fork import BranchJob, Change, ForkPoint, jobs_of_arms
from agentsim.runs.game_in_progress import GameInProgress

Swap: TypeAlias = Literal["silence", "neutral"]
ANY = Text(sys.maxsize)
"""The legal values of a text for which the request states none."""
SAID = "said"
"""The name of the arm that keeps the message."""
NEUTRAL = (
    "I have thought about what has happened so far, and I am ready to go on. There is nothing that I want to add at "
    "this point. I will listen to what the others say, and then I will decide. "
)
"""The words of a neutral message, repeated up to its length."""


def neutral(length: int) -> str:
    """Return exactly `length` characters of neutral words; full stops replace a word that does not fit."""
    text = (NEUTRAL * (length // len(NEUTRAL) + 1))[: length + 1]
    whole = text[:length] if text[length:].isspace() else text[:length].rpartition(" ")[0]
    return whole.rstrip().ljust(length, ".")


@dataclass(frozen=True)
class PlayerMessage:
    """The message of the decision `parent.ask`, its listeners, and the decision `instead` of the other arm.

    `paths` are the paths of its words in the decision, with the legal values there; `kind` and `round` are those of
    the events that carry it. `heard` is the number of the first wave in which all listeners know it.
    """

    parent: ForkPoint
    decision: Decision
    paths: Mapping[Path, Text]
    kind: str
    round: int
    listeners: tuple[PlayerId, ...]
    heard: int
    arm: str = SAID
    instead: Decision | None = None

    def words_of(self, decision: Decision | None) -> str:
        """Return the words of a decision at the paths of the message, joined by newlines, or ""."""
        found = (None if decision is None else value_at(json_fields(decision), path) for path in self.paths)
        return "\n".join(each for each in found if isinstance(each, str))

    def swapped(self, swap: Swap | None = None, words: str | None = None) -> PlayerMessage:
        """Return the message with its other arm: `words`, or silence, or neutral words if silence is not legal.

        Raises `UsageError` if the resulting decision is not legal.
        """
        said = json_fields(self.decision)
        if words is not None:
            return self._with(f"words_{text_id(words)[:6]}", dict.fromkeys(self.paths, words))
        if swap != "neutral":
            try:
                return self._with("silence", dict.fromkeys(self.paths, ""))
            except UsageError:
                if swap is not None:
                    raise
        lengths = {path: min(len(value_at(said, path).strip()), legal.limit) for path, legal in self.paths.items()}
        return self._with("neutral", {path: neutral(length) for path, length in lengths.items()})

    def jobs(self, count: int) -> list[BranchJob]:
        """Return branches 1 to `count` with the message and without it, number by number."""
        return jobs_of_arms(self.parent, {SAID: Change(self.decision), self.arm: Change(self.instead)}, count)

    def _with(self, arm: str, words: Mapping[Path, str]) -> PlayerMessage:
        """Return the message with these words. If "" is not legal, the whole field gets the fallback's value."""
        request, data = self.parent.ask.request, json_fields(self.decision)
        for path, text in words.items():
            legal = self.paths[path]
            if len(text) > legal.limit:
                raise UsageError(f"--words: must have at most {counted(legal.limit, 'character')}, found {len(text)}")
            if text or legal.empty:
                data = with_value(data, path, text)
            else:
                data[str(path[0])] = json_fields(request.fallback()).get(str(path[0]))
        try:
            decision: Decision = request.answer.model_validate(data)
            request.check(decision)
        except (ValueError, DecisionError) as error:
            why = " ".join(str(error).split())[:200]
            raise UsageError(f"{arm}: cannot replace the words of decision {self.parent.ask.index}: {why}") from None
        return replace(self, arm=arm, instead=decision)


def messages(files: RunFiles, at: int, *, each: bool = False) -> list[PlayerMessage]:
    """Return the message of decision `at`; with `each`, also those of other players in the same round.

    Others count if events of the same kind carry their messages; the first of each player is taken. Raises `UsageError`
    if the decision says nothing to another player.
    """
    told = _told(files)
    if at not in told:
        ForkPoint.of(files, at)  # raises its own error if there is no such decision
        raise UsageError(f"{files.name}: decision {at} says nothing that another player hears")
    (first, *_), _ = told[at]
    chosen = {first.by: at}
    if each:
        for index, ((logged, *_), _) in sorted(told.items()):
            if (logged.event.kind, logged.round) == (first.event.kind, first.round):
                chosen.setdefault(logged.by, index)
    return [_message(ForkPoint.of(files, index), *told[index]) for index in sorted(chosen.values())]


def _told(files: RunFiles) -> dict[int, tuple[list[LoggedEvent], int]]:
    """Return each decision's events with words that another player heard, and the first wave after the last of them."""
    contents = read_journal(files.journal)
    played = GameInProgress.of_journal(contents)
    play = played.play
    found: dict[int, tuple[list[LoggedEvent], int]] = {}
    seen = number = 0

    def take(wave: int) -> None:
        for logged in play.log[seen:]:
            if logged.decision is not None and logged.event.words is not None and _heard(logged, play.table.players):
                found[logged.decision] = [*found.get(logged.decision, ([], 0))[0], logged], wave

    for each in played.replay(contents):
        take(number := each.wave.number)
        seen = len(play.log)
    take(number + 1)
    play.close()
    return found


def _heard(logged: LoggedEvent, players: Sequence[PlayerId]) -> list[PlayerId]:
    """Return the players that heard an event, without its speaker; empty for empty words."""
    heard = players if isinstance(logged.to, EveryoneType) else logged.to
    return [player for player in heard if player != logged.by and logged.event.content.strip()]


def _message(parent: ForkPoint, told: Sequence[LoggedEvent], heard: int) -> PlayerMessage:
    record = parent.contents.decisions[parent.ask.wave, parent.ask.place]
    texts = {path: text for path, text in paths_in(dict(record.decision)) if isinstance(text, str)}
    options = {path: _option(parent.ask.request, path, record.decision) for path in texts}
    free = {path: option or ANY for path, option in options.items() if option is None or isinstance(option, Text)}
    paths = {at: free[at] for each in told for at in _carrying(each, {path: texts[path] for path in free})}
    if record.source == "fallback" or not paths:
        raise UsageError(f"{parent.files.name}: the words that decision {record.index} led to are not its own")
    decision: Decision = parent.ask.request.answer.model_validate(dict(record.decision))
    players = [plan.id for plan in parent.scenario.players]
    listeners = dict.fromkeys(player for each in told for player in _heard(each, players))
    return PlayerMessage(parent, decision, paths, told[0].event.kind, told[0].round, tuple(listeners), heard)


def _carrying(told: LoggedEvent, texts: Mapping[Path, str]) -> list[Path]:
    """Return the paths of the texts that an event tells, whole or cut; of equal texts, the one named by the event."""
    words = " ".join(told.event.content.removesuffix(CUT).split())
    found = [path for path, text in texts.items() if " ".join(text.split()).startswith(words)]
    return [path for path in found if path[-1] == told.event.words] or found


def _option(request: Request[Any], path: Path, decision: Mapping[str, Any]) -> LegalValues | None:
    """Return the legal values at a path of a decision; a variant's depend on the value of its deciding field."""
    options = leaves(request.answer, request.checked_options)
    *outer, name = map(str, path)
    if outer == [bare_field(request.answer, request.checked_options)]:
        return options.get(name)
    if outer and isinstance(variant := options.get(".".join(outer)), Variant):
        return variant.fields.get(str(value_at(decision, (*outer[:-1], variant.by))), {}).get(name)
    return options.get(".".join((*outer, name)))
