"""Reading: from the text of a reply to the decision that it gives, the same for every field of every game.

`reader` states the rules. `layers` decodes a reply and cuts it at the end of its turn; `thinking` takes out what was
thought; `objects`, `relaxed` and `calls` find JSON and tool calls, `shaping` and `fields` say what they mean;
`candidates` finds tags, labels and values in the rest; `speech` reads answers in words; `tags`, `text` and
`engine.markup` serve them all. They are imported where a reply is read: their patterns take time to compile, and a
game of bots reads no reply.
"""

from __future__ import annotations

READER_VERSION = 9
"""The version of the reader that a journal names; it rises with every change that reads some reply otherwise."""
