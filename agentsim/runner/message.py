"""Message: what a decision said to other players, who heard it, and the same decision with other words or none.

Which part of a decision is the message follows from the events: those with `words` that the decision led to, and that
another player heard. What listeners did then is `analysis.responses`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agentsim.engine.codec import text_id, values
from agentsim.engine.decision import Decision
from agentsim.engine.event import EveryoneType, LogEntry, PlayerId
from agentsim.engine.paths import Path, paths_in, value_at, with_value
from agentsim.engine.schema import Choice, Option, Text, Variant, bare_field, leaves
from agentsim.engine.wording import CUT
from agentsim.errors import DecisionError, UsageError
from agentsim.history.contents import read_journal
from agentsim.history.run_files import RunFiles
from agentsim.runner.arms import Wanted, of_arms
from agentsim.runner.drive import played_again
from agentsim.runner.fork import ParentRun, parent_of
from agentsim.runner.plays import new_play, restored_scenario

Swap: TypeAlias = Literal["silence", "neutral"]
SAID = "said"
"""The arm in which the message stays as it was."""
NEUTRAL = (
    "I have thought about what has happened so far, and I am ready to go on. There is nothing that I want to add at "
    "this point. I will listen to what the others say, and then I will decide. "
)
"""What a neutral message says, over and over up to its length."""


def neutral(length: int) -> str:
    """Neutral words of so many characters; where they end within a word, full stops stand for its part."""
    text = (NEUTRAL * (length // len(NEUTRAL) + 1))[: length + 1]
    whole = text[:length] if text[length:].isspace() else text[:length].rpartition(" ")[0]
    return whole.rstrip().ljust(length, ".")


@dataclass(frozen=True)
class Message:
    """What the decision `parent.ask` said: the places of its words in it, and the players who heard them.

    `kind` is that of the events that carry it, `round` theirs; wave `heard` is the first of which all listeners may
    know it.
    """

    parent: ParentRun
    decision: Decision
    places: tuple[Path, ...]
    kind: str
    round: int
    listeners: tuple[PlayerId, ...]
    heard: int

    @property
    def speaker(self) -> PlayerId:
        return self.parent.ask.request.player

    def words_of(self, decision: Decision) -> str:
        """What a decision says in the places of the message; "" where there is nothing."""
        found = (value_at(values(decision), place) for place in self.places)
        return "\n".join(each for each in found if isinstance(each, str))

    def swapped(self, swap: Swap | None = None, words: str | None = None) -> tuple[str, Decision]:
        """The name of the arm with another message, and its decision.

        Without a `swap` or `words` it is silence, or neutral words where the request does not let a player say nothing.
        Raises `UsageError` where the decision cannot be.
        """
        if words is not None:
            return f"words_{text_id(words)[:6]}", self._with("--words", lambda place: self._fitting(words, place))
        if swap == "neutral":
            return "neutral", self._neutral()
        try:
            return "silence", self._silent()
        except UsageError:
            if swap is not None:
                raise
            return "neutral", self._neutral()

    def wanted(self, arm: str, decision: Decision, count: int) -> list[Wanted]:
        """Branches 1 to `count` with the message as it was, and of the arm with this decision, number by number."""
        return of_arms(self.parent, {SAID: {"instead": self.decision}, arm: {"instead": decision}}, count)

    def _neutral(self) -> Decision:
        said = values(self.decision)
        return self._with(
            "--swap neutral", lambda place: self._fitting(neutral(len(value_at(said, place).strip())), place)
        )

    def _silent(self) -> Decision:
        """Empty words where they may be; else what the fallback has there, which puts no words into a mouth."""
        data, fallback = values(self.decision), values(self.parent.ask.request.fallback())
        for place in self.places:
            option = self._option(place)
            if isinstance(option, Text) and not option.empty:
                data[str(place[0])] = fallback.get(str(place[0]))
            else:
                data = with_value(data, place, "")
        return self._legal("--swap silence", data)

    def _with(self, what: str, words: Callable[[Path], str]) -> Decision:
        data = values(self.decision)
        for place in self.places:
            data = with_value(data, place, words(place))
        return self._legal(what, data)

    def _fitting(self, words: str, place: Path) -> str:
        option = self._option(place)
        if isinstance(option, Text) and len(words) > option.limit:
            raise UsageError(f"--words: must have at most {option.limit} characters, found {len(words)}")
        return words

    def _option(self, place: Path) -> Option | Variant | None:
        return _option(self.parent, place, values(self.decision))

    def _legal(self, what: str, data: dict[str, Any]) -> Decision:
        request = self.parent.ask.request
        try:
            decision: Decision = request.answer.model_validate(data)
            request.check(decision)
        except (ValueError, DecisionError) as error:
            problem = " ".join(str(error).split())[:200]
            raise UsageError(
                f"{what}: decision {self.parent.ask.index} cannot be without its words: {problem}"
            ) from None
        return decision


def messages(files: RunFiles, at: int, *, each: bool = False) -> list[Message]:
    """The message of decision `at`; with `each`, that of every player who said such a thing in its round.

    Such a thing is told by events of the same kind; of a player who said several, the first is taken (and `at`).
    Raises `UsageError` where the decision says nothing to another player.
    """
    told = _told(files)
    if at not in told:
        parent_of(files, at)  # which says so where there is no such decision
        raise UsageError(f"{files.name}: decision {at} says nothing that another player hears")
    (first, *_), _ = told[at]
    chosen = {first.by: at}
    if each:
        for index, ((entry, *_), _) in sorted(told.items()):
            if (entry.event.kind, entry.round) == (first.event.kind, first.round):
                chosen.setdefault(entry.by, index)
    return [_message(parent_of(files, index), *told[index]) for index in sorted(chosen.values())]


def _told(files: RunFiles) -> dict[int, tuple[list[LogEntry], int]]:
    """By decision, its events with words that another player heard, and the first wave after the last of them."""
    recorded = read_journal(files.journal)
    play = new_play(*restored_scenario(recorded.head))
    found: dict[int, tuple[list[LogEntry], int]] = {}
    seen = number = 0

    def take(wave: int) -> None:
        for entry in play.log[seen:]:
            if entry.decision is not None and entry.event.words is not None and _heard(entry, play.table.players):
                found[entry.decision] = [*found.get(entry.decision, ([], 0))[0], entry], wave

    for wave, _, _ in played_again(play, recorded):
        take(number := wave.number)
        seen = len(play.log)
    take(number + 1)
    play.close()
    return found


def _heard(entry: LogEntry, players: Sequence[PlayerId]) -> list[PlayerId]:
    """Who heard an event, but for its speaker; empty words are not heard."""
    heard = players if isinstance(entry.to, EveryoneType) else entry.to
    return [player for player in heard if player != entry.by and entry.event.content.strip()]


def _message(parent: ParentRun, told: Sequence[LogEntry], heard: int) -> Message:
    request, entry = parent.ask.request, parent.contents.entries[parent.ask.wave, parent.ask.place]
    index, data = parent.ask.index, dict(entry.decision)
    texts = {
        place: value
        for place, value in paths_in(data)
        if isinstance(value, str) and not isinstance(_option(parent, place, data), Choice)
    }
    places = dict.fromkeys(place for each in told for place in _carrying(each, texts))
    if entry.source == "fallback" or not places:
        raise UsageError(f"{parent.files.name}: the words that decision {index} led to are none of its own")
    decision: Decision = request.answer.model_validate(data)
    players = [plan.id for plan in parent.scenario.seats]
    listeners = [player for each in told for player in _heard(each, players)]
    first = told[0]
    return Message(
        parent, decision, tuple(places), first.event.kind, first.round, tuple(dict.fromkeys(listeners)), heard
    )


def _carrying(told: LogEntry, texts: Mapping[Path, str]) -> list[Path]:
    """The places of texts that an event tells, whole or cut; of several alike, those of the name that the event has."""
    words = " ".join(told.event.content.removesuffix(CUT).split())
    found = [place for place, text in texts.items() if " ".join(text.split()).startswith(words)]
    return [place for place in found if place[-1] == told.event.words] or found


def _option(parent: ParentRun, place: Path, data: Mapping[str, Any]) -> Option | Variant | None:
    """The option of a place in a decision; of a field that goes by another one, the one for that other's value."""
    request = parent.ask.request
    options = leaves(request.answer, request.stated)
    *outer, name = map(str, place)
    if outer == [bare_field(request.answer, request.stated)]:
        return options.get(name)
    if outer and isinstance(variant := options.get(".".join(outer)), Variant):
        return variant.fields.get(str(value_at(data, (*outer[:-1], variant.by))), {}).get(name)
    return options.get(".".join((*outer, name)))
