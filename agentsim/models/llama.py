"""The llama child process: it loads a file of weights and serves it on loopback until its parent closes stdin.

Only the program that runs in the child belongs here; `local` starts it. It is run by path, so it may import nothing of
agentsim. It is a separate process because llama.cpp inside ours can neither be stopped nor abandoned while a request
runs: stopping hangs with the GIL held, abandoning is a segmentation fault.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any

CONTEXT = 8192
"""Tokens of prompt and reply together, as the embedded model was trained."""

PROMPT_CACHE_MIB = 2048
"""The size of the cache for the prompt prefixes of players, in MiB: 90,000 tokens of the embedded model."""

BATCH = 128
"""Prompt tokens between two checks for a caller that has disconnected. A larger batch is no faster on a CPU."""

MOST_THREADS = 8
"""The most threads. With more, the threads of a small model wait for each other more than they compute."""


def main() -> None:
    """Read the configuration from stdin, print the address to stdout, and exit when stdin closes."""
    wanted = json.loads(sys.stdin.readline())
    try:
        server = _serve(wanted)
        answer = {"address": server.listening_address}
    except Exception as error:  # the parent must learn of any failure
        answer = {"error": str(error) or type(error).__name__}
    with contextlib.suppress(OSError):  # the parent has already ended
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
        sys.stdin.read()  # returns when the parent ends, even if it is killed
    os._exit(0)  # skips llama.cpp's own shutdown, which waits for abandoned requests


def _serve(wanted: dict[str, Any]) -> Any:
    import xllamacpp  # type: ignore[import-untyped]  # the wheel has no stubs

    parameters = xllamacpp.CommonParams()
    parameters.model.path = wanted["gguf"]
    parameters.model_alias = {wanted["alias"]}  # otherwise replies name the path of the file
    parameters.api_keys = [wanted["key"]]  # otherwise any web page in a browser on this machine could call it
    parameters.n_parallel = wanted["parallel"]
    parameters.n_ctx = CONTEXT * wanted["parallel"]
    parameters.n_batch = parameters.n_ubatch = BATCH
    parameters.cache_ram_mib = PROMPT_CACHE_MIB
    parameters.cpuparams.n_threads = min(_cores(), MOST_THREADS)
    parameters.verbosity = 0
    return xllamacpp.Server(parameters)


def _cores() -> int:
    """Return the CPU cores that this process may use. In a container it may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    main()
