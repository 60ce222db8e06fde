"""Reading: how the text of a reply becomes a decision: the same for every field of every game.

`thinking` takes out what was thought; `scanning` and `relaxed` find objects; `shaping` and `fields` say what they mean;
`claims` finds decisions in prose, `doubts` what turns them around; `reader` decides.
"""

from agentsim.engine.reading.reader import read, thoughts_in
from agentsim.engine.reading.thinking import split

__all__ = ["READER_VERSION", "read", "split", "thoughts_in"]

READER_VERSION = 5
"""Rises with every change that reads some reply otherwise: a journal names the version that read its replies."""
