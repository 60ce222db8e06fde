"""The reader of replies: from the text of a model's reply to the decision in it, in the same way for every game.

`Vote: C`, `{"vote": "C"}` in a fence, `<vote>C</vote>` and a tool call in any model's template give the same decision.

- `reader` states the rules and applies them.
- `layers` decodes a reply and cuts it at the end of the model's turn.
- `text`, `calls` and `notations` find JSON, tool calls, and objects in XML or YAML.
- `shaping` and `fields` map keys and values to the question's schema.
- `candidates` finds tags, labels and values in the rest of the text.
- `speech` separates thinking from the answer, and reads answers in words.
- `text` and `engine.markup` serve them all.

Code imports these modules when it reads a reply: their patterns take time to compile, and a game of bots reads none.
"""

from __future__ import annotations

READER_VERSION = 13
"""The reader's version, which a journal records. It rises with every change that reads some reply differently."""
