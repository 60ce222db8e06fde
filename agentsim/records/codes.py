"""Codes: what coders say of the units of a game by a codebook, and the files beside a run that have it.

`NAME.CODEBOOK.CODER.codes` holds the codes of one run by one coder, a model or a person. It is a journal: a line for
each unit, appended as it is coded. No coder's file has anything of another's.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, ValidationError, model_validator

from agentsim.engine.codec import StrictTable, paths_in
from agentsim.engine.event import NAMED, EveryoneType, LoggedEvent, Past, PlayerId
from agentsim.errors import AgentsimError, JournalCorrupt, UsageError, first_objection
from agentsim.games import find
from agentsim.lazy import dataclass
from agentsim.records.events import told_events
from agentsim.records.history import History
from agentsim.records.journal import DecisionRecord, Totals, read_journal
from agentsim.records.run_files import CODES, RunFiles, coded_run

EVERYONE: Final = "everyone"
NONE: Final = "none"
"""The answer of a detail that does not apply, and the audience of what no other player heard."""
OTHER: Final = "other"
"""The deed of a promise that is none of the game's actions."""
UnitKind: TypeAlias = Literal["event", "message", "decision", "round"]
UNIT_COLUMNS: Final = ("run", "unit", "round", "player", "model", "audience", "words", "coder", "person")
"""The columns of the table `codes` before those of codes and details, which have other names."""
MOST_VALUES: Final = 40
"""The most different words that the values of a fact may be, so that a claim about it can be coded."""
_NAME = r"^[a-z][a-z0-9_]{0,31}$"
_LONGEST_CODER = 60
_LONGEST_CONTEXT = 600
"""The most characters of each message that a unit shows of those before it."""


def _label(text: str) -> str:
    """Return a label, which stands in one line between commas. Raises `ValueError` if it cannot."""
    if not text.isprintable() or text != text.strip() or "," in text:
        raise ValueError("must be printable text on one line, without commas and without spaces at its ends")
    return text


_Title: TypeAlias = Annotated[str, Field(min_length=1, max_length=60)]
_Label: TypeAlias = Annotated[_Title, AfterValidator(_label)]
_Words: TypeAlias = Annotated[str, Field(min_length=1, max_length=4_000)]


class Code(StrictTable):
    """`[[codes]]`: one question about each unit, answered with one of its levels."""

    name: Annotated[str, Field(pattern=_NAME)]
    """Its name in tables"""
    definition: _Words
    """The meaning, as coders read it"""
    levels: Annotated[tuple[_Label, ...], Field(min_length=2, max_length=10)] = ("no", "yes")
    """The answers, the least first"""
    scale: Literal["nominal", "ordinal"] = "nominal"
    """The scale of the levels; agreement takes an order into account"""
    examples: tuple[_Words, ...] = ()
    """Words that have the code"""
    counterexamples: tuple[_Words, ...] = ()
    """Words that seem to have it, and do not"""

    @model_validator(mode="after")
    def _different(self) -> Self:
        if len({level.casefold() for level in self.levels}) < len(self.levels):
            raise ValueError("has one level twice")
        return self


class Detail(StrictTable):
    """`[[details]]`: a fact about a unit that has a code, such as to whom something is promised."""

    name: Annotated[str, Field(pattern=_NAME)]
    """Its name in tables"""
    ask: _Words
    """The question in words"""
    of: Literal["options", "players", "deeds", "facts", "values", "number"] = "options"
    """The kind of answer: one of `options`, a player, an action between players, a fact of the game, the value of one,
    or a whole number
    """
    options: tuple[_Label, ...] = ()
    """Answers besides these; `none` is always one"""


class Codebook(StrictTable):
    """A codebook's file: the units that coders look at, and the questions about each."""

    name: Annotated[str, Field(pattern=_NAME)]
    """Its name, a part of the names of files"""
    title: _Title
    """Its title"""
    source: Annotated[str, Field(min_length=1, max_length=1_000)]
    """The publications that its definitions come from"""
    unit: UnitKind
    """The units: each event, each message of a player to others, each decision, or each round"""
    guidelines: Annotated[str, Field(max_length=8_000)] = ""
    """The text that coders read before the codes"""
    context: Annotated[int, Field(ge=0, le=20)] = 0
    """The number of earlier messages in the same audience that are shown with a unit"""
    thought: bool = False
    """True if a unit is shown with the private thoughts of its player"""
    knowledge: bool = False
    """True if a unit is shown with the prompt of its player"""
    codes: Annotated[tuple[Code, ...], Field(min_length=1, max_length=20)]
    """The questions about each unit"""
    details: Annotated[tuple[Detail, ...], Field(max_length=10)] = ()
    """Facts about a unit that has the first code"""

    @model_validator(mode="after")
    def _one_name_each(self) -> Self:
        if len({*self.names}) < len(self.names):
            raise ValueError("gives two codes or details one name")
        if taken := [name for name in self.names if name in UNIT_COLUMNS]:
            raise ValueError(f"has a code or detail with the name of a column of its table: {taken[0]}")
        for each in self.details:
            if each.of == "options" and len({*each.options}) < 2:
                raise ValueError(f"details.{each.name} needs two or more different options, or `of`")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its codes and details."""
        return (*(code.name for code in self.codes), *(detail.name for detail in self.details))

    @cached_property
    def digest(self) -> str:
        """16 hex digits that identify everything that coders are shown."""
        return hashlib.sha256(json.dumps(self.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()[:16]

    def finds(self, code: str, details: Set[str]) -> bool:
        """Return whether a unit can have the code, and has these details then."""
        levels = {each.name: each.levels for each in self.codes}
        return "yes" in levels.get(code, ()) and {detail.name for detail in self.details} >= details

    def code(self, name: str) -> Code:
        """Return the code of this name."""
        return next(each for each in self.codes if each.name == name)


@dataclass(frozen=True, slots=True)
class ContextLine:
    """Words with their speaker and audience, `everyone` or the ids of those who heard them."""

    speaker: PlayerId
    to: str
    words: str


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing to code. `anchor` is its place in the run's page and its name in the run: `e12`, `d7`, `round-3`.

    `by` is the player whose words or deed it is, None of a round and of what no player did. `thought` and `knowledge`
    are "" unless the codebook shows them.
    """

    run: str
    anchor: str
    round: int
    by: PlayerId | None
    to: str
    words: str
    before: tuple[ContextLine, ...] = ()
    thought: str = ""
    knowledge: str = ""
    seq: int = 0
    """The number of its last event, or 0"""


@dataclass(frozen=True, slots=True)
class CodedUnit:
    """The codes and details that one coder gave a unit, by name."""

    anchor: str
    codes: Mapping[str, str]
    """Numbers are in digits"""


class CodesHead(StrictTable):
    """The `scenario` in the head of a file of codes; `units` are the anchors of all units in the drawn order."""

    codebook: Codebook
    coder: str
    person: bool
    units: tuple[str, ...]


@dataclass(frozen=True)
class Codes:
    """The codes of one run by one coder. `failed` counts the units for which no usable answer came."""

    path: Path
    run: str
    codebook: Codebook
    coder: str
    person: bool
    seed: int
    units: tuple[CodedUnit, ...]
    failed: int
    usage: Totals

    @cached_property
    def by_anchor(self) -> Mapping[str, CodedUnit]:
        """The coded units by their place in the run."""
        return {unit.anchor: unit for unit in self.units}

    @classmethod
    def read(cls, path: Path) -> Codes:
        """Read a file of codes. Raises `AgentsimError` if it is not one."""
        contents = read_journal(path)
        head = head_of(path, contents.head)
        if not isinstance(contents.head.get("name"), str) or not isinstance(contents.head.get("seed"), int):
            raise JournalCorrupt(f"{path.name}: its head has no name or no seed", line=1)
        decided = [contents.decisions[key] for key in sorted(contents.decisions)]
        made = [each for each in decided if each.source != "fallback"]
        return cls(
            path,
            contents.head["name"],
            head.codebook,
            head.coder,
            head.person,
            contents.head["seed"],
            tuple(_coded(path, head, each) for each in made),
            len(decided) - len(made),
            Totals.of(decided, {each.player for each in decided}),
        )


def head_of(path: Path, head: Mapping[str, Any]) -> CodesHead:
    """Return what a file of codes says of itself. Raises `JournalCorrupt` if it is not one."""
    try:
        return CodesHead.model_validate_json(json.dumps(head.get("scenario")))
    except ValidationError as error:
        raise JournalCorrupt(f"{path.name}: {': '.join(first_objection(error))[:200]}", line=1) from None


def _coded(path: Path, head: CodesHead, record: DecisionRecord) -> CodedUnit:
    levels = {code.name: code.levels for code in head.codebook.codes}
    given = record.decision.get("codes")
    if not isinstance(given, Mapping) or record.place >= len(head.units):
        raise AgentsimError(f"{path}: unit {record.place} is not one of its codebook")
    codes = {str(name): str(level) for name, level in given.items()}
    if any(codes.get(name) not in known for name, known in levels.items()):
        raise AgentsimError(f"{path}: the codes of {head.units[record.place][:40]} are not those of its codebook")
    return CodedUnit(head.units[record.place], codes)


def coder_slug(coder: str) -> str:
    """Return a coder's part of a file's name; a digest is added if the name had to be changed."""
    slug = re.sub("[^A-Za-z0-9_-]+", "-", coder)[:_LONGEST_CODER].strip("-")
    return slug if slug == coder else f"{slug}-{hashlib.sha256(coder.encode()).hexdigest()[:6]}"


def codes_path(files: RunFiles, codebook: str, coder: str) -> Path:
    """Return the path of a run's codes by this codebook and coder."""
    return files.directory / f"{files.name}.{codebook}.{coder_slug(coder)}{CODES}"


def codes_of(files: RunFiles, codebook: str | None = None) -> list[Codes]:
    """Return all codes of a run, judges before people, or those by one codebook. Warns of a file that is unreadable."""
    found = []
    begins = f"{files.name}.{codebook}." if codebook else f"{files.name}."
    for path in files.beside(CODES):
        if path.name.startswith(begins) and coded_run(path) == files.name and path.stat().st_size:
            try:
                found.append(Codes.read(path))
            except AgentsimError as error:
                warnings.warn(f"{path}: left out, since these are not readable codes: {error}", stacklevel=2)
    return sorted(found, key=lambda each: (each.codebook.name, each.person))


def codes_by_codebook(
    files: RunFiles, code: str, details: Set[str], codebook: str | None = None
) -> Iterator[list[Codes]]:
    """Yield the codes of a run by each codebook that finds a code with these details, or by that with this digest."""
    found: dict[str, list[Codes]] = {}
    for codes in codes_of(files):
        if codes.codebook.finds(code, details) and codebook in {None, codes.codebook.digest}:
            found.setdefault(codes.codebook.digest, []).append(codes)
    yield from found.values()


def agreed(coded: Sequence[Codes], anchor: str, code: str) -> list[tuple[Codes, CodedUnit]]:
    """Return who gives a unit the level `yes` of a code, and what they say of it, or [] if coders do not decide so.

    People decide before judges; of several, more than half must say so.
    """
    opinions = [(codes, codes.by_anchor[anchor]) for codes in coded if anchor in codes.by_anchor]
    among = [each for each in opinions if each[0].person] or opinions
    calling = [each for each in among if each[1].codes[code] == "yes"]
    return calling if 2 * len(calling) > len(among) else []


def choices_of(history: History) -> dict[str, tuple[str, ...]]:
    """Return the answers that details have in a game, by `Detail.of`.

    Deeds are the actions between players that are declared in fixed words, or were done. Facts are those that the game
    declares, if their values are numbers or few (`MOST_VALUES`).
    """
    game = find(history.game)
    log = told_events(history, game)
    players = tuple(player.id for player in history.seated)
    values: dict[str, dict[str, None]] = {name: {} for name in game.facts}
    for truth in game.truths(log, players):
        if isinstance(truth.value, str):
            values.setdefault(truth.name, {})[truth.value] = None
    few = {name: found for name, found in values.items() if len(found) <= MOST_VALUES}
    words = tuple(sorted({value for found in few.values() for value in found}))
    return {"players": players, "deeds": _deeds(history, log), "facts": tuple(few), "values": words}


def _deeds(history: History, log: Sequence[LoggedEvent]) -> tuple[str, ...]:
    found = dict.fromkeys(action for event in find(history.game).events for action in event.fixed_actions())
    past = Past()
    for told in log:
        found |= dict.fromkeys(done.action for done in told.event.interactions(past))
        past.add(told.event)
    return tuple(sorted(found.keys() - {NAMED}))


def units_of(run: str, history: History, codebook: Codebook) -> list[Unit]:
    """Return the units of a run in the order of the game. Raises `UsageError` if its game is not installed."""
    log = told_events(history, find(history.game))
    decisions = {each.index: each for each in history.decisions}
    players = {player.id for player in history.seated}
    if codebook.unit == "decision":
        return [
            Unit(
                run,
                f"d{each.index}",
                each.round or 0,
                each.player,
                NONE,
                f"{each.kind}: {json.dumps(each.decision, ensure_ascii=False)}",
                thought=thought_of(each, "") if codebook.thought else "",
                knowledge=_knowledge(each) if codebook.knowledge else "",
            )
            for each in history.decisions
            if each.survey is None and each.player in players
        ]
    if codebook.unit == "round":
        return list(_rounds(run, history, log))
    return list(_events(run, history, log, codebook, decisions))


def _rounds(run: str, history: History, log: Sequence[LoggedEvent]) -> Iterator[Unit]:
    for part in history.rounds[1:]:
        told = [
            (seq, logged) for seq, logged in enumerate(log, start=1) if logged.round == part.index and logged.public
        ]
        if told:
            words = "\n".join(" ".join((logged.event.heading, logged.event.content)) for _, logged in told)
            yield Unit(run, f"round-{part.index}", part.index, None, EVERYONE, words, seq=told[-1][0])


def _events(
    run: str,
    history: History,
    log: Sequence[LoggedEvent],
    codebook: Codebook,
    decisions: Mapping[int, DecisionRecord],
) -> Iterator[Unit]:
    """Yield a unit for each event that was heard, or for each message of a player that another player heard."""
    players = [player.id for player in history.seated]
    said: list[tuple[frozenset[str], ContextLine]] = []
    for seq, logged in enumerate(log, start=1):
        heard = frozenset(players if isinstance(logged.to, EveryoneType) else logged.to).intersection(players)
        by = logged.by if logged.by in players else None
        is_message = by is not None and logged.event.words is not None and bool(heard - {by}) and logged.event.content
        if is_message or (codebook.unit == "event" and heard):
            to = EVERYONE if logged.public else ", ".join(each for each in players if each in heard - {by}) or NONE
            text = (
                logged.event.content
                if codebook.unit == "message"
                else f"{logged.event.heading}\n{logged.event.content}"
            )
            record = decisions.get(logged.decision or 0)
            before = [line for audience, line in said if heard <= audience][-codebook.context :]
            yield Unit(
                run,
                f"e{seq}",
                logged.round,
                by,
                to,
                text.strip(),
                tuple(before if codebook.context else ()),
                thought_of(record, logged.event.content) if record is not None and codebook.thought else "",
                _knowledge(record) if record is not None and codebook.knowledge else "",
                seq,
            )
            if is_message and by is not None:
                said.append((heard | {by}, ContextLine(by, to, logged.event.content[:_LONGEST_CONTEXT])))


def thought_of(record: DecisionRecord, said: str) -> str:
    """Return the texts of a decision that were not said to others, and the reasoning of its model."""
    texts = [
        leaf for _, leaf in paths_in(record.decision) if isinstance(leaf, str) and " " in leaf and leaf not in said
    ]
    reasoning = None if record.answered is None else record.answered.reasoning
    return "\n".join(filter(None, (*texts, reasoning)))


def _knowledge(record: DecisionRecord) -> str:
    """Return the prompt of a decision, without what was said when it was asked again, or "" if no model decided it."""
    return "\n".join(message.text for attempt in record.attempts[:1] for message in attempt.messages)


def drawn_order(units: Sequence[Unit], seed: int) -> list[Unit]:
    """Return the units in an order drawn from a seed: each has its place by a digest of seed, run and anchor.

    The first N of any number of runs are a simple random sample of all their units, however many follow.
    """

    def digest(unit: Unit) -> str:
        return hashlib.sha256(f"{seed}/{unit.run}/{unit.anchor}".encode()).hexdigest()

    return sorted(units, key=digest)


def require_finished(name: str, history: History) -> None:
    """Raise `UsageError` if a run is not over, so that its units may change."""
    if history.outcome is None:
        raise UsageError(f"{name}: is not finished; a run is coded when its game is over")
