"""What holds for every test: nothing but loopback, no real key, no variable of the person who runs it."""

from __future__ import annotations

import os
import socket
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes is a busy machine's affair: nothing here is a test of speed.
settings.register_profile("agentsim", deadline=None)
settings.load_profile("agentsim")

_CLEARED = ("OPENAI_", "OPENROUTER_", "GEMINI_", "GOOGLE_", "OLLAMA_", "AGENTSIM_", "NO_COLOR", "FORCE_COLOR")
_LOOPBACK = ("127.", "::1", "localhost")


def _guarded(connect: Any) -> Any:
    def guard(self: socket.socket, address: Any) -> Any:
        host = address[0] if isinstance(address, tuple) else None
        if host is not None and not str(host).startswith(_LOOPBACK):
            raise AssertionError(f"a test tried to reach {host}")
        return connect(self, address)

    return guard


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.upper().startswith(_CLEARED) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setattr(socket.socket, "connect", _guarded(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", _guarded(socket.socket.connect_ex))
