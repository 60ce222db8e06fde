"""OpenAICompatible: one model behind any server that speaks OpenAI's chat completions.

Turns, deadlines and structured modes do not belong here (`remote`), nor do providers' peculiarities (`profiles`), nor
what an answer or an error means (`response_parsing`, `faults`).
"""

from __future__ import annotations

from typing import Any

from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.body import called_function, request_body
from agentsim.models.profiles import Profile
from agentsim.models.remote import RemoteModel
from agentsim.models.response_parsing import completion_in
from agentsim.models.transport import NoAnswer

__all__ = ["OpenAICompatible"]


class OpenAICompatible(RemoteModel):
    """A `Model` over one endpoint's `/chat/completions`."""

    def _prepared(self, profile: Profile, call: Call, sampling: Sampling) -> tuple[dict[str, Any], str | None]:
        """The body, and the function that the reply must call."""
        self._endpoint.open()
        return request_body(profile, self._model, call, sampling), called_function(profile, call)

    async def _exchange(self, request: tuple[dict[str, Any], str | None]) -> Completion:
        body, function = request
        try:
            answer = await self._endpoint.post("/chat/completions", body)
        except NoAnswer as error:
            raise self._faults.connection(error) from None
        if not 200 <= answer.status < 300:
            raise self._faults.status(answer.status, answer.headers, answer.body)
        return completion_in(answer.body, answer.headers.get("content-type", ""), self._faults, function)
