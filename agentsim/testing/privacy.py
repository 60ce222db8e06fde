"""Privacy: a question depends only on the events that its player heard and on that player's own decisions.

Every free text of these games is a unique marker, by which it is recognized in any prompt or event.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.event import PlayerId
from agentsim.engine.game import Bot
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Request
from agentsim.engine.wording import counted
from agentsim.testing.case import Asked, Case, SampleGame, differences, excused, named, words_of
from agentsim.testing.check import Check, Findings
from agentsim.testing.redrawn import Draw, Redrawn

_DRAWS = 4
"""The number of other decisions that are drawn for a question."""
_REDRAWS = 3
"""The number of other results of a draw."""
_MOST = 6
"""The most games per seed in which one player's decision is changed, and the most in which one draw is changed."""
_FROM_EVENTS = "Make the request of what its player heard (`table.heard`, `table.memory`)."
_LEFT_OUT = "Leave it out of the request: its prompt does not show it."


@Check
def no_information_leak(case: Case) -> Findings:
    """A player who heard and decided the same is asked the same, whatever others decided and whatever was drawn."""
    known: dict[tuple[str, ...], tuple[str, str]] = {}
    found: set[tuple[str, str]] = set()
    compared = 0
    for label, played in _games(case):
        for key, asked in _with_knowledge(case, played):
            here, kind = f"{label}, {asked}", asked.ask.request.kind
            data, there = known.setdefault(key, (asked.data, here))
            compared += there != here
            if data == asked.data:
                continue
            other = type(asked.ask.request).restore(json.loads(data))
            is_read = other.prompt().text() != asked.ask.request.prompt().text()
            for path, before, after in differences(json.loads(data), json.loads(asked.data)):
                name = named(path.split("."), case.players)
                if (kind, name) not in found and not excused(name, asked.ask.request.leak_exempt):
                    found.add((kind, name))
                    what = f"`{path}` is {after!r}, and is {before!r} in {there}, with the same heard and decided"
                    yield here, what, _FROM_EVENTS if is_read else _LEFT_OUT
    return (
        f"{counted(compared, 'question')} after the same"
        if compared
        else "nothing: no two games have a moment in common"
    )


def _games(case: Case) -> Iterator[tuple[str, SampleGame]]:
    """Yield games that differ in all draws, in one draw, or in one decision of one player, with the same words."""
    for seed in range(case.seeds):
        yield f"seed {seed}", case.play(marking(case.bot), seed)
    chance = Redrawn(case.seed)
    plain = case.play(marking(case.bot), chance=chance)
    yield "the tiny game", plain
    # all first draws of streams, then all second ones, and so on, evenly sampled
    drawn = sorted((nth, name) for name, count in chance.draws.items() for nth in range(1, count + 1))
    for number in range(_REDRAWS):
        for nth, name in drawn[:: max(1, _REDRAWS * len(drawn) // (_MOST * case.seeds))]:
            other = Redrawn(case.seed, draw := Draw(name, nth), f"agentsim.testing/{number}")
            yield f"the tiny game but for {draw}", case.play(marking(case.bot), chance=other)
    draws = [(asked, f"agentsim.testing/{asked}/{number}") for asked in plain.asked for number in range(_DRAWS)]
    for asked, name in draws[:: max(1, len(draws) // (_MOST * case.seeds))]:
        decision = random_decision(asked.ask.request, Stream(name))
        decision = reworded(asked.ask.request, decision, partial(marker, *asked.key))
        if decision != asked.decision:
            label = f"the tiny game but for wave {asked.ask.wave}, in which {asked.player} decides {decision}"
            yield label, case.play(marking(case.bot, asked, decision))


def _with_knowledge(case: Case, played: SampleGame) -> Iterator[tuple[tuple[str, ...], Asked]]:
    """Yield every question to a player, with a key of all that the player had heard and decided before it."""
    known: dict[PlayerId, str] = dict.fromkeys(case.players, "")
    upto = 0
    for asked in played.asked:
        for told in played.log[upto : asked.events_before]:
            words = words_of(told)
            for listener in filter(told.heard_by, case.players):
                known[listener] = _digest(known[listener], told.round, told.by, words)
        upto, player = asked.events_before, asked.player
        if player in known:  # staff sees all that the rules show it
            yield (player, asked.ask.request.kind, known[player], asked.round), asked
            known[player] = _digest(known[player], asked.ask.request.kind, asked.decision.model_dump_json())


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


@Check
def private_words(case: Case) -> Findings:
    """Other private words change no question to a player who does not hear them.

    Show players what they heard, by `table.heard` or `table.memory`, and no words that are kept in the state.
    """
    plain = case.play(marking(case.bot))
    heard, changed = audiences(case, plain), 0
    asked_of = {player: _questions_to(player, plain) for player in case.players}
    for said, (asked, path) in markers(plain).items():
        outside = sorted(set(case.players) - heard[said])
        other = case.play(marking(case.bot, asked, path)) if outside else plain
        changed += [each.decision for each in other.asked] != [each.decision for each in plain.asked]
        for player in outside:
            before, after = asked_of[player], _questions_to(player, other)
            if before != after:
                first = next((was for was, now in zip(before, after, strict=False) if was != now), before[-1])
                what = f"it depends on what {asked.player} says in `{path}` of {asked}, which {player} does not hear"
                yield first.partition(":")[0], what
    return f"{changed} private texts, each replaced once" if changed else "nothing: no text is private"


def _questions_to(player: PlayerId, played: SampleGame) -> list[str]:
    """Return every question to a player, with all that it is shown."""
    return [f"{each}: {shown_to(each)}" for each in played.asked if each.player == player]


def audiences(case: Case, played: SampleGame) -> dict[str, set[str]]:
    """Return the players and staff who wrote or heard each marker, by marker."""
    readers = [*case.players, *(f"@{role}" for role in case.staff)]
    heard = {said: {asked.player} for said, (asked, _) in markers(played).items()}
    for told in played.log:
        for said in filter(words_of(told).__contains__, heard):
            heard[said].update(filter(told.heard_by, readers))
    return heard


def markers(played: SampleGame) -> dict[str, tuple[Asked, str]]:
    """Return the question, and the path in its answer, at which each marker of a game was said."""
    paths = ((asked, path) for asked in played.asked for path in free_texts(asked.ask.request, asked.decision))
    return {marker(*asked.key, path): (asked, path) for asked, path in paths}


def marker(player: str, kind: str, nth: int, path: str, letter: str = "x") -> str:
    return f"{letter}q{player}q{kind}q{nth}q{path.replace('.', 'q')}q"


def shown_to(asked: Asked) -> str:
    """Return all text that a question shows its player."""
    return f"{asked.data} {asked.ask.request.prompt().text()}"


def marking(policy: Bot, asked: Asked | None = None, change: str | Decision = "") -> Bot:
    """Return a policy whose every free text is a unique marker.

    For the question `asked` it changes the answer: to the decision `change`, or in the text at the path `change`, by a
    text of the same length.
    """
    counts: Counter[tuple[str, str]] = Counter()

    def marked(request: Request[Any], rng: Stream) -> Decision:
        decision = policy(request, rng)
        counts[key] = nth = counts[key := (request.player, request.kind)] + 1
        changed = change if asked and (*key, nth) == asked.key else ""
        if isinstance(changed, Decision):
            return changed
        return reworded(request, decision, lambda path: marker(*key, nth, path, "y" if path == changed else "x"))

    return marked


def reworded(request: Request[Any], decision: Decision, words: Callable[[str], str]) -> Decision:
    """Return the decision with each free text replaced by `words` of its path."""
    said = decision.model_dump()
    for path in free_texts(request, decision):
        *outer, name = path.split(".")
        inside = said
        for part in outer:
            inside = inside[part]
        inside[name] = words(path)
    return type(decision).model_validate(said)


def free_texts(request: Request[Any], decision: Decision) -> list[str]:
    """Return the paths of the free texts in a decision: `speech`, `action.pitch`, `notes.B`."""
    stated = request.checked_options.items()
    every = (each for path, option in stated for each in (*option.by_path(path).items(), *option.leaves(path).items()))
    closed = {path for path, option in every if option.kind == "choice"}
    paths = _strings(decision.model_dump(), "")
    return [path for path in paths if path not in closed and path.rpartition(".")[0] not in closed]


def _strings(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, str):
        yield path
    for name, part in value.items() if isinstance(value, dict) else ():
        yield from _strings(part, f"{path}.{name}" if path else str(name))
