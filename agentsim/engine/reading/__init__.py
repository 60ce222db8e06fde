"""Reading: how the text of a reply becomes a decision: the same for every field of every game.

`thinking` takes out what was thought; `scanning` and `relaxed` find objects; `shaping` and `fields` say what they mean;
`claims` finds decisions in prose, `doubts` what turns them around; `reader` decides. Each is imported on first use: the
patterns of all take a tenth of a second to compile, and a game of bots reads no reply.
"""

from __future__ import annotations

from agentsim import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from agentsim.engine.reading.reader import read, thoughts_in
    from agentsim.engine.reading.thinking import has_marks, split

__all__ = ["READER_VERSION", "has_marks", "read", "split", "thoughts_in"]

READER_VERSION = 6
"""Rises with every change that reads some reply otherwise: a journal names the version that read its replies."""


if not TYPE_CHECKING:  # hidden from type checkers, which would take it for every name
    __getattr__ = lazy_exports(
        __name__, {"read": "reader", "thoughts_in": "reader", "has_marks": "thinking", "split": "thinking"}
    )
