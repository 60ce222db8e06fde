"""Llama: the child process that holds a file of weights and serves it on loopback until its parent lets go.

Only the program run in that child belongs here; `local` starts it. It is run by path, so it may import nothing of
agentsim. A process of its own, because llama.cpp inside ours can neither be stopped nor left while a request runs:
the first hangs with the interpreter locked, the second is a segmentation fault.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any

CONTEXT = 8192
"""Tokens of prompt and reply together; what the embedded model was trained for."""

PROMPT_CACHE_MIB = 2048
"""Where the prefixes of players wait for their next turn; 90,000 tokens of the embedded model."""

BATCH = 128
"""Prompt tokens between two looks at whether the caller has gone; larger is no faster on a CPU."""

MOST_THREADS = 8
"""Beyond it, threads of a small model wait for each other more than they compute."""


def main() -> None:
    """Read what to serve from stdin, say where it is served on stdout, and end when stdin does."""
    wanted = json.loads(sys.stdin.readline())
    try:
        server = _serve(wanted)
        answer = {"address": server.listening_address}
    except Exception as error:  # whatever it is, the parent has to hear of it
        answer = {"error": str(error) or type(error).__name__}
    with contextlib.suppress(OSError):  # a parent that has already gone
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
        sys.stdin.read()  # ends with the parent, however that ends
    os._exit(0)  # without llama.cpp's own end, which waits for requests that were given up


def _serve(wanted: dict[str, Any]) -> Any:
    import xllamacpp  # type: ignore[import-untyped]  # the wheel has no stubs

    parameters = xllamacpp.CommonParams()
    parameters.model.path = wanted["gguf"]
    parameters.model_alias = {wanted["alias"]}  # replies would otherwise name the path of the file
    parameters.api_keys = [wanted["key"]]  # or any page in a browser here could call it
    parameters.n_parallel = wanted["slots"]
    parameters.n_ctx = CONTEXT * wanted["slots"]
    parameters.n_batch = parameters.n_ubatch = BATCH
    parameters.cache_ram_mib = PROMPT_CACHE_MIB
    parameters.cpuparams.n_threads = min(_cores(), MOST_THREADS)
    parameters.verbosity = 0
    return xllamacpp.Server(parameters)


def _cores() -> int:
    """Cores this process may use, which in a container can be fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    main()
