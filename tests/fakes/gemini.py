"""Gemini: what `generateContent` answers, for the fake server; its faults are the server's own scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.replies import first_by_schema
from tests.fakes.server import FakeServer, Raw

__all__ = ["generated", "native_url", "speaking_gemini"]


def native_url(server: FakeServer, scenario: str = "ok") -> str:
    """The base address of the fake as Gemini's own API has it."""
    return server.url(scenario).removesuffix("/v1") + "/v1beta"


def generated(*parts: str | Mapping[str, Any], finish: str | None = "STOP", **more: Any) -> dict[str, Any]:
    """An answer with these parts (texts, or whole parts); `more` adds to it or replaces parts of it."""
    candidate = {
        "content": {"role": "model", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]},
        "finishReason": finish,
        "index": 0,
    }
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    return {"candidates": [candidate], "modelVersion": "fake-001", "usageMetadata": usage, **more}


def speaking_gemini(body: dict[str, Any]) -> Raw:
    """A reply that fits the request's schema."""
    schema = body.get("generationConfig", {}).get("responseJsonSchema")
    asked = {} if schema is None else {"response_format": {"json_schema": {"schema": schema}}}
    return Raw(body=generated(first_by_schema(asked)))
