"""Asking: a model of either protocol before a fake server, and what comes of its calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from agentsim.errors import ModelError
from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.gemini import Gemini
from agentsim.models.profiles import BUILT_IN, Profile, ProviderSettings, resolve
from agentsim.models.remote import Endpoint, OpenAICompatible, RemoteModel
from tests.fakes.gemini import native_url
from tests.fakes.server import FakeServer

__all__ = ["GEMINI", "LAB", "tried", "with_model"]

T = TypeVar("T")
LAB = resolve("lab", {"lab": ProviderSettings(base_url="http://127.0.0.1:9/v1", api_key_env="LAB_KEY")}, {})
GEMINI = replace(BUILT_IN["gemini"], api="gemini")


def with_model(
    server: FakeServer,
    use: Callable[[RemoteModel], Awaitable[T]],
    profile: Profile = LAB,
    *,
    model: str = "some/model",
    scenario: str = "ok",
    key: str | None = None,
    **endpoint: Any,
) -> T:
    """What comes of using a model of this profile, whose provider is the fake."""

    async def main() -> T:
        async with server:
            native = profile.api == "gemini"
            at = replace(profile, base_url=native_url(server, scenario) if native else server.url(scenario))
            kind: type[RemoteModel] = Gemini if native else OpenAICompatible
            opened = kind(f"{profile.provider}/{model}", at, Endpoint(at.base_url, key, **endpoint))
            try:
                return await use(opened)
            finally:
                await opened.aclose()

    return asyncio.run(main())


def tried(
    server: FakeServer, call: Call, sampling: Sampling, profile: Profile = LAB, **place: Any
) -> Completion | ModelError:
    """What one call brings, or the fault it meets."""

    async def once(model: RemoteModel) -> Completion | ModelError:
        try:
            return await model.complete(call, sampling)
        except ModelError as fault:
            return fault

    return with_model(server, once, profile, **place)
