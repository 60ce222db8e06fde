"""The wires: how each API words a request and an answer. Each builds a body and reads an answer, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from agentsim.models.base import Call, Completion, Sampling, StructuredMode, Usage
from agentsim.models.faults import Faults
from agentsim.models.profiles import Profile, WireName
from agentsim.models.wire import chat, messages, responses


class Wire(Protocol):
    """The module of one API."""

    PATH: str
    """The path of requests, behind the base URL."""
    MODES: tuple[StructuredMode, ...]
    """How a reply can be held to a schema, the strictest way first."""
    MAY_OMIT_CAP: bool
    """Whether a request may leave out the most tokens of its reply."""

    def body(self, profile: Profile, model: str, call: Call, sampling: Sampling) -> dict[str, Any]:
        """Return the body of one request, in the structured mode of the profile."""

    def completion(self, envelope: Mapping[str, Any], faults: Faults, function: str | None) -> Completion:
        """Return the completion in a decoded answer. With a `function`, its arguments are the text.

        Raises `ModelError` for an error inside a good answer, and for an answer that is none.
        """

    def usage(self, envelope: Mapping[str, Any]) -> Usage:
        """Return the tokens and the cost that an answer states."""


WIRES: Final[Mapping[WireName, Wire]] = {"chat": chat, "responses": responses, "messages": messages}
