"""Reading: from the text of a reply to the decision that it gives, the same for every field of every game.

`reader` states the rules. `layers` decodes a reply and cuts it at the end of its turn; `thinking` takes out what was
thought; `objects`, `relaxed` and `calls` find JSON and tool calls, `shaping` and `fields` say what they mean;
`candidates` finds tags, labels and values in the rest; `speech` reads answers in words; `tags`, `text` and
`engine.markup` serve them all. Modules are imported on first use: their patterns take time to compile, and a game
of bots reads no reply.
"""

from __future__ import annotations

from agentsim import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from agentsim.engine.reading.reader import read, thoughts_in
    from agentsim.engine.reading.thinking import has_marks, split

__all__ = ["READER_VERSION", "has_marks", "read", "split", "thoughts_in"]

READER_VERSION = 9
"""The version of the reader that a journal names; it rises with every change that reads some reply otherwise."""


if not TYPE_CHECKING:  # hidden from type checkers, which would take it for every name
    __getattr__ = lazy_exports(
        __name__, {"read": "reader", "thoughts_in": "reader", "has_marks": "thinking", "split": "thinking"}
    )
