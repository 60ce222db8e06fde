"""The wires: one module per API, which builds the body of a request and reads the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from agentsim.models.base import Call, Completion, Sampling, StructuredMode, Usage
from agentsim.models.faults import ErrorFactory
from agentsim.models.profiles import Profile, WireName
from agentsim.models.wire import chat, messages, responses
from agentsim.models.wire.common import Function


class Wire(Protocol):
    """The interface of a wire module."""

    PATH: str
    """The path of requests, after the base URL."""
    MODES: tuple[StructuredMode, ...]
    """The structured modes, strictest first."""
    MAY_OMIT_CAP: bool
    """True if a request may omit the limit on its reply."""

    def body(self, profile: Profile, model: str, call: Call, sampling: Sampling) -> dict[str, Any]:
        """Return the body of one request, in the structured mode of the profile."""

    def completion(self, envelope: Mapping[str, Any], faults: ErrorFactory, function: Function | None) -> Completion:
        """Return the completion in a decoded answer. If a `function` is forced, its arguments are the text.

        Raises `ModelError` for an error inside a 200 and for an answer without a completion.
        """

    def usage(self, envelope: Mapping[str, Any]) -> Usage:
        """Return the tokens and the cost that an answer states."""


WIRES: Final[Mapping[WireName, Wire]] = {"chat": chat, "responses": responses, "messages": messages}
