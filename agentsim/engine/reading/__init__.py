"""Reading: from the text of a reply to the decision that it gives, the same for every field of every game.

`reader` states the rules. `thinking` takes out what was thought; `objects` and `relaxed` find JSON, `shaping` and
`fields` say what it means; `candidates` finds tags, labels and values in the rest; `speech` reads answers in words;
`markup` and `text` serve them all. Modules are imported on first use: their patterns take time to compile, and a game
of bots reads no reply.
"""

from __future__ import annotations

from agentsim import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from agentsim.engine.reading.reader import read, thoughts_in
    from agentsim.engine.reading.thinking import has_marks, split

__all__ = ["READER_VERSION", "has_marks", "read", "split", "thoughts_in"]

READER_VERSION = 7
"""The version of the reader that a journal names; it rises with every change that reads some reply otherwise."""


if not TYPE_CHECKING:  # hidden from type checkers, which would take it for every name
    __getattr__ = lazy_exports(
        __name__, {"read": "reader", "thoughts_in": "reader", "has_marks": "thinking", "split": "thinking"}
    )
