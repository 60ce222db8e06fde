"""Replies and envelopes that no one would write, at a rate of thousands a second: does anything crash, stall or leak?

    python -m benchmarks.fuzz --replies 10_000_000 --envelopes 1_000_000 --jobs 2
    python -m benchmarks.fuzz --replies 2_000 --envelopes 500 --jobs 1 --json

Replies are those of `tests/replies`, spliced, cut, repeated and salted with tokens that the reader knows, or made of
such tokens, or of the question's own fields; one in 2,000 is 64 KB long. Each answers a question of a real game. The
reader may return a decision that the request allows, or raise a `DecisionError`; no text between thinking tags may
appear in a decision. Envelopes are bodies of provider answers, mutated as JSON values and as bytes; each must give a
completion or a `ModelError`. Any other result is printed with its seed, and the exit code is 1. CPU is that of the
reading only. A reply that takes more than 20 ms is read again three times, each time a character shorter, and the
minimum counts, to exclude pauses of the machine.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from agentsim.engine.request import Request
from agentsim.errors import DecisionError, ModelError
from agentsim.models.faults import ErrorFactory
from agentsim.models.profiles import ProviderSettings, resolve
from agentsim.models.remote import completion_in, decoded
from agentsim.models.wire import WIRES
from agentsim.models.wire.common import Function
from tests.replies.asked import ASKED, asked, read, thinking_kept
from tests.replies.corpus import replies

LONG = 64 * 1024
SLOW_S = 0.02
MARK = "zqxjthoughtzqxj"
_WORDS = r"""{ } [ ] " ' : , \ ``` ```json <think> </think> <vote> </vote> <answer> ** - # > ( ) . ! ? ; = | ~ $ % & /
    \n \u0041 \" vote bid pass action reasoning final answer: I will not never instead of rather than A B C 0 1 40 1,000
    -5 1e9 null true false // /* */ <|im_end|> [INST] <|channel|>analysis <|message|> assistantfinal wait actually would
    example format if then but yes no {"vote":"B"} {"bid":300} vote:B bid:40 **Thinking:** {"action":"idle"}"""
TOKENS = (*_WORDS.split(), "\n", "\n\n", "  ", "\u200b", "\u202e", "\u0301", "\U0001f600")
FORCED = Function("decision", forced=True, schema={"properties": {"vote": {"enum": ["B", "C"]}}})
BODY: dict[str, Any] = {
    "id": "chatcmpl-1",
    "model": "m-1",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {
                "role": "assistant",
                "content": '{"vote": "B"}',
                "reasoning_content": "so",
                "tool_calls": [{"type": "function", "function": {"name": "decision", "arguments": '{"vote": "B"}'}}],
            },
        }
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 3, "cost": 0.1, "prompt_tokens_details": {"cached_tokens": 1}},
    "error": {"message": "overloaded", "code": 529, "metadata": {"raw": "x"}},
}
ODD: tuple[Any, ...] = (
    *(None, True, -1, 1e308, 10**30, "", "x" * 500, [], {}, [None], {"text": "a"}, "\ud800", "stop", 429, "1"),
)


@dataclass
class Found:
    """The results for a number of inputs. Times are seconds of CPU."""

    inputs: int = 0
    accepted: int = 0
    seconds: float = 0.0
    worst: float = 0.0
    worst_per_kb: float = 0.0
    worst_text: str = ""
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Add the results of another process."""
        self.inputs += other.inputs
        self.accepted += other.accepted
        self.seconds += other.seconds
        self.worst_per_kb = max(self.worst_per_kb, other.worst_per_kb)
        if other.worst > self.worst:
            self.worst, self.worst_text = other.worst, other.worst_text
        self.wrong += other.wrong


def _mutated(text: str, rng: random.Random, pool: Sequence[str]) -> str:
    """Return the text with one to four changes."""
    for _ in range(rng.randint(1, 4)):
        at, size = rng.randrange(len(text) + 1), rng.randrange(1, 30)
        match rng.randrange(6):
            case 0:
                text = text[:at] + rng.choice(TOKENS) + text[at:]
            case 1:
                text = text[:at] + text[at + size :]
            case 2:
                text = text[:at] + text[at : at + size] * rng.randint(2, 5) + text[at:]
            case 3:
                other = rng.choice(pool)
                start = rng.randrange(len(other) + 1)
                text = text[:at] + other[start : start + 80] + text[at:]
            case 4:
                text = text[:at] + chr(rng.choice((rng.randrange(128), rng.randrange(0xD800)))) + text[at + 1 :]
            case _:
                text = text[:at]
    return text[:4_000]


def _object(name: str, rng: random.Random) -> str:
    """Return a JSON object with the question's own fields and arbitrary values."""
    fields = asked(name).request.schema().get("properties", {})
    value = {
        field: rng.choice(legal.get("enum") or ODD) if rng.random() < 0.7 else rng.choice((*ODD, rng.choice(TOKENS)))
        for field, legal in fields.items()
        if rng.random() < 0.95
    }
    text = json.dumps(value)
    return text if rng.random() < 0.7 else f"{rng.choice(TOKENS)} {text}{rng.choice(TOKENS)}"


def _replies(rng: random.Random) -> Iterator[tuple[str, str, bool]]:
    """Yield the name of a question, a reply, and whether the reply begins with a marked thought."""
    names = sorted(ASKED)
    corpus = [(name, reply.text) for reply in replies() for name in reply.asked]
    pool = [text for _, text in corpus]
    while True:
        name, text = rng.choice(corpus)
        kind = rng.random()
        if kind < 0.0005:
            unit = "".join(rng.choice(TOKENS) for _ in range(rng.randint(1, 4)))
            yield rng.choice(names), (unit * (LONG // len(unit) + 1))[:LONG], False
        elif kind < 0.5:
            name = rng.choice(names)
            yield name, _object(name, rng), False
        elif kind < 0.75:
            yield rng.choice(names), " ".join(rng.choice(TOKENS) for _ in range(rng.randint(1, 15))), False
        elif kind < 0.78:
            yield name, f"<think>{MARK} {_mutated(text, rng, pool).replace('<', '(')}</think>\n{text}", True
        else:
            yield name, _mutated(text, rng, pool), False


def _cost(request: Request[Any], text: str) -> float:
    started = time.process_time()
    with suppress(DecisionError):
        read(request, text)
    with suppress(DecisionError):
        thinking_kept(request, text)
    return time.process_time() - started


def fuzz_replies(seed: int, number: int) -> Found:
    """Read so many random replies to the questions of the games."""
    rng, found, clock = random.Random(seed), Found(), time.process_time
    gc.disable()  # its pauses would count as time of the reader
    for (name, text, marked), turn in zip(_replies(rng), range(number), strict=False):
        request = asked(name).request
        decision: Any = None
        started = clock()
        try:
            decision = read(request, text, "length" if turn % 7 == 0 else "stop")
            thinking_kept(request, text)
        except DecisionError:
            pass
        except Exception as error:
            found.wrong.append(f"seed {seed}, reply {turn} to {name}: {type(error).__name__}: {error}: {text[:500]!r}")
        spent = clock() - started
        for shorter in range(1, 4) if spent > SLOW_S else ():
            spent = min(spent, _cost(request, text[shorter:]))
        _note(found, spent, len(text), f"{name}: {text[:80]!r}", accepted=decision is not None)
        if decision is not None:
            request.check(decision)
            if marked and MARK in json.dumps(decision.model_dump(mode="json")):
                found.wrong.append(f"seed {seed}, reply {turn} to {name}: thinking is heard: {text[:500]!r}")
        if turn % 5_000 == 0:
            gc.collect()
    return found


def _note(found: Found, spent: float, size: int, shown: str, *, accepted: bool) -> None:
    found.inputs += 1
    found.accepted += accepted
    found.seconds += spent
    if size >= 1_024:
        found.worst_per_kb = max(found.worst_per_kb, spent / (size / 1_024))
    if spent > found.worst:
        found.worst, found.worst_text = spent, shown


def _changed(value: Any, rng: random.Random, chance: float) -> Any:
    """Return the value with some of its parts replaced, removed or repeated."""
    if rng.random() < chance:
        return rng.choice(ODD)
    if isinstance(value, dict):
        return {key: _changed(part, rng, chance) for key, part in value.items() if rng.random() > chance}
    if isinstance(value, list):
        return [_changed(part, rng, chance) for part in value for _ in range(rng.choice((1, 1, 1, 0, 2)))]
    return value


def fuzz_envelopes(seed: int, number: int) -> Found:
    """Read so many random bodies as completions."""
    rng, found, clock = random.Random(seed), Found(), time.process_time
    faults = ErrorFactory(
        resolve("lab", {"lab": ProviderSettings(base_url="http://127.0.0.1:1/v1")}, {}), "m", ("sk-key-0123456789",)
    )
    for turn in range(number):
        body = dict(BODY)
        if rng.random() < 0.8:
            del body["error"]
        raw = json.dumps(_changed(body, rng, rng.choice((0.02, 0.1)))).encode()
        if turn % 3 == 0:
            at = rng.randrange(len(raw))
            raw = rng.choice((raw[:at], raw[:at] + bytes([rng.randrange(256)]) + raw[at + 1 :], raw[at:] + raw))
        given = rng.choice(("application/json", "text/html", "", "application/json; charset=latin-1"))
        accepted, started = False, clock()
        try:
            completion_in(WIRES["chat"], decoded(raw, given, faults), faults, FORCED if turn % 5 == 0 else None)
            accepted = True
        except ModelError as error:
            if "\n" in str(error):
                found.wrong.append(f"seed {seed}, envelope {turn}: an error of several lines: {raw[:500]!r}")
        except Exception as error:
            found.wrong.append(f"seed {seed}, envelope {turn}: {type(error).__name__}: {error}: {raw[:500]!r}")
        _note(found, clock() - started, len(raw), repr(raw[:80]), accepted=accepted)
    return found


def _shared(work: Callable[[int, int], Found], number: int, jobs: int, seed: int, piece: int) -> Found:
    """Run the work in pieces on so many processes, with progress on stderr."""
    pieces = [(seed + index, min(piece, number - start)) for index, start in enumerate(range(0, number, piece))]
    whole, began = Found(), time.monotonic()
    # Ctrl-C ends the run early, with the sums so far.
    spawned = multiprocessing.get_context("spawn")
    with spawned.Pool(jobs, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool, suppress(KeyboardInterrupt):
        for done in pool.imap_unordered(_Piece(work), pieces):
            whole.add(done)
            print(f"\r{whole.inputs:,} of {number:,}, {time.monotonic() - began:,.0f} s", end="", file=sys.stderr)
    print(file=sys.stderr)
    return whole


@dataclass(frozen=True)
class _Piece:
    work: Callable[[int, int], Found]

    def __call__(self, piece: tuple[int, int]) -> Found:
        return self.work(*piece)


def main() -> int:
    """Fuzz and print the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--replies", type=int, default=10_000_000)
    parser.add_argument("--envelopes", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--json", action="store_true", help="a line of JSON for each kind")
    given = parser.parse_args()
    wrong: list[str] = []
    for what, work, number in (
        ("replies", fuzz_replies, given.replies),
        ("envelopes", fuzz_envelopes, given.envelopes),
    ):
        found = _shared(work, number, given.jobs, given.seed, 20_000)
        wrong += found.wrong
        row = {
            "what": what,
            "inputs": found.inputs,
            "accepted": found.accepted,
            "wrong": len(found.wrong),
            "mean_us": round(found.seconds / max(1, found.inputs) * 1e6, 1),
            "worst_ms": round(found.worst * 1e3, 2),
            "worst_ms_per_kb_from_1_kb": round(found.worst_per_kb * 1e3, 3),
        }
        if given.json:
            print(json.dumps(row))
        else:
            print(
                ", ".join(
                    f"{key} {value:,}" if isinstance(value, int) else f"{key} {value}" for key, value in row.items()
                )
            )
            print(f"  the slowest: {found.worst_text}")
    for line in wrong[:50]:
        print(line, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
