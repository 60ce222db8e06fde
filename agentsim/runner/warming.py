"""Warming: one call of a wave goes ahead, and those that begin as it does wait for its answer.

A provider with a prompt cache bills a prefix that it has answered before at less, but not one that is only under way.
Of a hundred calls that go out at once, none meets another's cache. Believed to be cached are whole blocks of the
beginning of a prompt, by model. A call waits once at most. What a provider really took from its cache is what its
answers say (`Usage.cached_tokens`).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from agentsim.engine.prompt import TOKEN_BYTES
from agentsim.models.base import Message

BLOCK = 1_024 * TOKEN_BYTES
"""Characters of a block: of less than 1,024 tokens OpenAI and Gemini cache nothing."""
KEPT_S = 300.0
"""Seconds since its last use for which a prefix is believed to be cached: the least that OpenAI promises."""


class Warming:
    """Which prefixes are cached, and which are being cached by a call that is under way; of one run."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._cached: dict[int, float] = {}  # blocks and the times of their last use, the latest last
        self._under_way: dict[int, asyncio.Event] = {}

    @asynccontextmanager
    async def turn(self, model: str, messages: Sequence[Message], schema: Mapping[str, Any]) -> AsyncIterator[None]:
        """Wait for the call that is caching the next part of this prompt, if there is one; then make the call inside.

        However that call ends, those that wait for it go on.
        """
        self._forget()
        blocks = list(_blocks(model, messages, schema))
        new = next((block for block in blocks if block not in self._cached), None)
        if new in self._under_way:
            await self._under_way[new].wait()
        own = [block for block in blocks if block not in self._cached and block not in self._under_way]
        over = asyncio.Event()
        self._under_way.update(dict.fromkeys(own, over))
        try:
            yield
            for block in blocks:
                self._cached.pop(block, None)
                self._cached[block] = self._clock()
        finally:
            for block in own:
                del self._under_way[block]
            over.set()

    def _forget(self) -> None:
        """What was not used for long is cached no more."""
        oldest = self._clock() - KEPT_S
        while self._cached and self._cached[first := next(iter(self._cached))] < oldest:
            del self._cached[first]


def _blocks(model: str, messages: Sequence[Message], schema: Mapping[str, Any]) -> Iterator[int]:
    """A number for each whole block of a call's beginning, which stands for all before it as well."""
    before = hash((model, json.dumps(schema)))  # providers put the schema before the messages
    text = "".join(message.text for message in messages)
    for start in range(0, len(text) - BLOCK + 1, BLOCK):
        before = hash((before, text[start : start + BLOCK]))
        yield before
