"""OpenAICompatible: one model behind any server that speaks OpenAI's chat completions.

Trying again does not belong here (`attempts`), nor providers' peculiarities (`profiles`), nor what an answer or
an error means (`envelope`, `faults`).
"""

from __future__ import annotations

import asyncio
from typing import Any

from agentsim.errors import ProviderRejected, RateLimited
from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.body import extra_problem, request_body
from agentsim.models.endpoint import Endpoint
from agentsim.models.envelope import completion_in
from agentsim.models.faults import Faults
from agentsim.models.profiles import Profile

__all__ = ["OpenAICompatible"]


class OpenAICompatible:
    """A `Model`; `name` is the scenario's, whose first segment is the provider and the rest the model's id."""

    def __init__(self, name: str, profile: Profile, endpoint: Endpoint) -> None:
        self._name, self._profile, self._endpoint = name, profile, endpoint
        self._model = name.partition("/")[2]
        self._faults = Faults(profile, self._model, (endpoint.key,) if endpoint.key else ())

    @property
    def name(self) -> str:
        return self._name

    @property
    def provider(self) -> str:
        return self._profile.provider

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """One attempt; the deadline runs from dispatch and holds for the whole answer, however it trickles."""
        for extra in (sampling.extra, self._profile.extra_body):
            if problem := extra_problem(extra):
                raise ProviderRejected(f"{self._name}: {problem}", code="bad_request")
        body = request_body(self._profile, self._model, call, sampling)
        self._endpoint.open()  # not within the deadline: what it costs is not the provider's time
        async with self._endpoint.admission():
            if call.begin is not None:
                call.begin()  # outside of the try: its errors are the caller's own
            try:
                async with asyncio.timeout(sampling.timeout_s):
                    return await self._exchange(body)
            except TimeoutError:
                raise self._faults.timeout(sampling.timeout_s) from None
            except RateLimited as limited:
                if limited.retry_after is not None:
                    self._endpoint.spacer.push_back(limited.retry_after)
                raise

    async def _exchange(self, body: dict[str, Any]) -> Completion:
        import openai

        try:
            response = await self._endpoint.post("/chat/completions", body)
        except openai.APIStatusError as error:
            answer = error.response
            raise self._faults.status(answer.status_code, answer.headers, answer.content) from None
        except openai.APIConnectionError as error:
            raise self._faults.connection(error) from None
        return completion_in(response.content, response.headers.get("content-type", ""), self._faults)

    async def aclose(self) -> None:
        """Close the connections, which other models of the same address and key share."""
        await self._endpoint.aclose()
