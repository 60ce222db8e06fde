"""Senders: the ways to send one chat completion request, side by side, each as its documentation shows."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any, TypeAlias

__all__ = ["INSPECT", "SENDERS", "Send"]

Send: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[str]]
"""A function from the body of a request to the text of its completion."""
KEY = "no-key-required"
INSPECT = "Inspect, generate()"
"""The sender that is there where `inspect-ai` is installed."""


def _text(content: bytes) -> str:
    return str(json.loads(content)["choices"][0]["message"]["content"])


@asynccontextmanager
async def sdk_create(url: str, *, aiohttp: bool = False) -> AsyncIterator[Send]:
    """Yield a sender that uses the SDK as its README shows."""
    import openai

    transport = openai.DefaultAioHttpClient() if aiohttp else None
    async with openai.AsyncOpenAI(base_url=url, api_key=KEY, http_client=transport) as client:

        async def send(body: Mapping[str, Any]) -> str:
            completion = await client.chat.completions.create(**body)
            return str(completion.choices[0].message.content)

        yield send


@asynccontextmanager
async def sdk_post(url: str, *, aiohttp: bool = False) -> AsyncIterator[Send]:
    """Yield a sender that uses the SDK's generic request, a ready body, and the raw response."""
    import httpx2
    import openai

    transport = openai.DefaultAioHttpClient() if aiohttp else None
    async with openai.AsyncOpenAI(base_url=url, api_key=KEY, http_client=transport, max_retries=0) as client:

        async def send(body: Mapping[str, Any]) -> str:
            return _text((await client.post("/chat/completions", body=body, cast_to=httpx2.Response)).content)

        yield send


@asynccontextmanager
async def httpx2_alone(url: str) -> AsyncIterator[Send]:
    """Yield a sender that uses the SDK's own HTTP library, without the SDK."""
    import httpx2

    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    async with httpx2.AsyncClient(limits=limits, timeout=None, headers=headers) as client:

        async def send(body: Mapping[str, Any]) -> str:
            return _text((await client.post(f"{url}/chat/completions", content=json.dumps(body).encode())).content)

        yield send


@asynccontextmanager
async def aiohttp_alone(url: str) -> AsyncIterator[Send]:
    """Yield a sender that uses aiohttp, without the SDK."""
    import aiohttp

    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=connector, headers=headers, timeout=timeout) as session:

        async def send(body: Mapping[str, Any]) -> str:
            async with session.post(f"{url}/chat/completions", data=json.dumps(body).encode()) as response:
                return _text(await response.read())

        yield send


@asynccontextmanager
async def inspect_generate(url: str) -> AsyncIterator[Send]:
    """Yield a sender that uses `generate` of Inspect, the framework of evaluations, with enough connections."""
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model

    config = GenerateConfig(max_connections=10_000)
    model = get_model("openai/loopback", base_url=url, api_key=KEY, config=config, responses_api=False, memoize=False)
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}

    async def send(body: Mapping[str, Any]) -> str:
        output = await model.generate([kinds[each["role"]](content=each["content"]) for each in body["messages"]])
        return str(output.completion)

    yield send


SENDERS = {
    "SDK, create()": sdk_create,
    "SDK, post()": sdk_post,
    "httpx2": httpx2_alone,
    "SDK on aiohttp, create()": lambda url: sdk_create(url, aiohttp=True),
    "SDK on aiohttp, post()": lambda url: sdk_post(url, aiohttp=True),
    "aiohttp": aiohttp_alone,
    **({INSPECT: inspect_generate} if find_spec("inspect_ai") else {}),
}
