"""Determinism: a game depends on its seed and decisions only, not on the order of sets, on counters or on a clock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.game import bots_of
from agentsim.engine.request import Request
from agentsim.engine.wording import counted
from agentsim.testing.case import Case, data_of, differences, game_of
from agentsim.testing.check import Check, Findings, Stopped, raised

_SEEDS = 3
_HASH_SEEDS = ("1", "2")
_CHILD = "from agentsim.testing.determinism import tell_games; tell_games()"


@Check
def same_seed(case: Case) -> Findings:
    """The same seed gives the same game again in one process, and another seed another.

    Keep no state in a module or in the game object: all of it is made in `play`.
    """
    for seed, before in enumerate(case.games[:_SEEDS]):
        yield from _parted(f"seed {seed}, played twice", before.lines(), case.play(seed=seed).lines())
    several = len({tuple(played.lines()) for played in case.games}) > 1
    return (
        f"{counted(len(case.games[:_SEEDS]), 'game')}"
        if several
        else f"nothing: all of {case.seeds} seeds give one game"
    )


@Check
def same_process(case: Case) -> Findings:
    """Two processes with two PYTHONHASHSEEDs play the same games, though the second has played them before.

    Sort what comes out of a set before it decides anything, and keep no state in a module, a bot or the game object.
    """
    if case.partial:
        return "nothing: the games of all scenarios are played together"
    path = os.pathsep.join(filter(None, sys.path))
    cases = [
        [f"{each.name}, " if each.partial else "", each.reference, each.players, each.config, each.staff]
        for each in (case, *case.others)
    ]
    said: list[Any] = []
    for times, seed in enumerate(_HASH_SEEDS, start=1):
        done = subprocess.run(  # noqa: S603 - our own interpreter; what it is to play goes through its stdin
            [sys.executable, "-c", _CHILD],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            input=json.dumps([times, cases]).encode(),
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise Stopped("a process of its own", done.stderr.decode(errors="replace").strip().rpartition("\n")[2])
        said.append(json.loads(done.stdout))
        if "stopped" in said[-1]:
            raise Stopped(*said[-1]["stopped"])
    one, other = said
    for label in one:
        yield from _parted(f"{label} with PYTHONHASHSEED {' and '.join(_HASH_SEEDS)}", one[label], other[label])
    return f"{counted(len(one), 'game')}"


def tell_games() -> None:
    """Play the games of the cases on stdin and write their lines to stdout. Runs in the child process."""
    times, cases = json.load(sys.stdin)
    games: dict[str, list[str]] = {}
    try:
        for _ in range(times):
            for name, reference, players, config, staff in cases:
                case = Case(reference, game_of(reference), tuple(players), config, tuple(staff))
                games |= {f"{name}seed {seed}": case.play(seed=seed).lines() for seed in range(_SEEDS)}
                for bot, policy in sorted(bots_of(case.game).items()):
                    games[f"{name}a game of bot/{bot}"] = case.play(policy).lines()
    except Exception as error:  # noqa: BLE001 - the code of a game may raise anything
        json.dump({"stopped": raised(error)}, sys.stdout)
    else:
        json.dump(games, sys.stdout)


@Check
def asking_changes_nothing(case: Case) -> Findings:
    """A question that is put once, twice or never is the same, at the game's end too, and so is the game.

    Let it depend on its fields alone, and these be frozen, such as a tuple; draw nothing in `options` or `prompt`.
    """
    found: list[tuple[str, str]] = []

    def asking(request: Request[Any], rng: Stream) -> Decision:
        again = type(request).restore(json.loads(json.dumps(request.to_json())))
        first = _rendered(request)
        for other in (_rendered(request), _rendered(again)):
            for path, before, after in differences(first, other):
                found.append((f"{request.player} is asked {request.kind}", f"{path} is {after!r}, and was {before!r}"))
        return case.bot(request, rng)

    put = case.play(asking)
    yield from found
    yield from _parted("the tiny game, its prompts made or not", case.play().lines(), put.lines())
    for where, asked in case.every():
        for path, before, after in differences(json.loads(asked.data), json.loads(data_of(asked.ask))):
            yield where, f"`{path}` was {before!r}, and is {after!r} when the game is over"
    return case.looked_at


def _rendered(request: Request[Any]) -> dict[str, Any]:
    prompt = request.prompt()
    parts = {"history": list(prompt.history), "state": list(prompt.state), "question": list(prompt.question)}
    return {**parts, "rules": list(prompt.rules), "schema": request.schema(), "fallback": repr(request.fallback())}


@Check
def bots_pure(case: Case) -> Findings:
    """A bot decides the same when it is asked again, in another order and of the same request restored.

    Let it be a function of the request and of its stream, without memory.
    """
    count = 0
    for name, bot in bots_of(case.game).items():
        played = case.game_by(f"bot/{name}")
        for asked in reversed(played.asked):
            count += 1
            for request in (asked.ask.request, type(asked.ask.request).restore(json.loads(asked.data))):
                if (decision := bot(request, played.play.bot_rng(asked.ask))) != asked.decision:
                    yield str(asked), f"bot/{name} decided {asked.decision!r}, and when asked again {decision!r}"
    return f"{counted(count, 'decision')} of {counted(len(bots_of(case.game)), 'bot')}"


def _parted(where: str, one: Sequence[str], other: Sequence[str]) -> Findings:
    """Yield the first line at which two records of a game differ."""
    for before, after in zip_longest(one, other, fillvalue="the end"):
        if before != after:
            first = next((at for at, both in enumerate(zip(before, after, strict=False)) if both[0] != both[1]), 0)
            near = slice(max(0, first - 60), first + 80)
            yield f"{where}, {before.partition(':')[0]}", f"one has `{before[near]}`, the other `{after[near]}`"
            break
    return ""
