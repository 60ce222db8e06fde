"""Calls of a model whose provider is the fake server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from agentsim.errors import ModelError
from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.profiles import Profile, ProviderSettings, resolve
from agentsim.models.remote import Endpoint, RemoteModel
from tests.fakes.server import FakeServer

__all__ = ["LAB", "tried", "with_model"]

T = TypeVar("T")
LAB = resolve("lab", {"lab": ProviderSettings(base_url="http://127.0.0.1:9/v1", api_key_env="LAB_KEY")}, {})


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
    """Open a model of this profile on the fake server, and return the result of `use`."""

    async def main() -> T:
        async with server:
            at = replace(profile, base_url=server.url(scenario))
            client: dict[str, Any] = {"service": at.service, "options": at.client_options}
            opened = RemoteModel(f"{profile.provider}/{model}", at, Endpoint(at.base_url, key, **client, **endpoint))
            try:
                return await use(opened)
            finally:
                await opened.aclose()

    return asyncio.run(main())


def tried(
    server: FakeServer, call: Call, sampling: Sampling, profile: Profile = LAB, **place: Any
) -> Completion | ModelError:
    """Make one call and return its completion or its error."""

    async def once(model: RemoteModel) -> Completion | ModelError:
        try:
            return await model.complete(call, sampling)
        except ModelError as fault:
            return fault

    return with_model(server, once, profile, **place)
