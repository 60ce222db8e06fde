"""Reading: how the text of a reply becomes a decision: the same for every field of every game.

What thinking is (`thinking`), where objects stand (`scanning`, `relaxed`), what values mean (`values`, `shaping`), what prose
claims (`claims`) and what makes a claim doubtful (`doubts`), with the words of twelve languages (`vocabulary`): `reader` decides.
"""

from agentsim.engine.reading.decision import Decision, Reading
from agentsim.engine.reading.reader import read, thoughts_in
from agentsim.engine.reading.thinking import split

__all__ = ["Decision", "Reading", "read", "split", "thoughts_in"]
