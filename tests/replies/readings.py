"""The readings of the corpus by the version of the reader that journals name, as digests in `readings.txt`.

`python -m tests.replies.readings` rewrites them, after replies were added or with a new `READER_VERSION`.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

from agentsim.engine.reading import READER_VERSION
from agentsim.errors import DecisionError
from tests.replies.asked import asked, read
from tests.replies.corpus import Outcome, Reply, replies

__all__ = ["outcomes", "readings", "recorded"]

_FILE = Path(__file__).with_name("readings.txt")


@cache
def outcomes() -> tuple[tuple[Reply, str, Outcome], ...]:
    """Return every reply, each question that it may answer, and the outcome of reading it."""
    found: list[tuple[Reply, str, Outcome]] = []
    for reply in replies():
        for name in reply.asked:
            outcome: Outcome
            try:
                outcome = read(asked(name).request, reply.text, reply.finish).model_dump(mode="json")
            except DecisionError as error:
                outcome = error.code
            found.append((reply, name, outcome))
    return tuple(found)


def readings() -> dict[str, str]:
    """Return 12 hex digits of each outcome, by reply and question."""
    spelt = {f"{reply.id} @ {name}": json.dumps(outcome, sort_keys=True) for reply, name, outcome in outcomes()}
    return {key: hashlib.sha256(text.encode()).hexdigest()[:12] for key, text in spelt.items()}


def recorded() -> tuple[int, dict[str, str]]:
    """Return the recorded version and its readings."""
    version, *lines = _FILE.read_text(encoding="utf-8").splitlines()
    return int(version), {key: digest for digest, _, key in (line.partition(" ") for line in lines)}


if __name__ == "__main__":
    body = "".join(f"{digest} {key}\n" for key, digest in readings().items())
    _FILE.write_text(f"{READER_VERSION}\n{body}", encoding="utf-8")
