"""The names of functions that models call: which of them answer a question, think aloud, or are of another tool.

A model that is asked for an answer in one form may give it as a call of a function, whose words other players hear. If
no function was forced, only its name tells an answer (`submit_vote`, `speak`) from words for the model itself (`think`,
`note_to_self`) or for another reader (`send_dm`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from agentsim.patterns import Pattern

_LONGEST: Final = 200  # characters of a name that are read
_THINKING: Final = Pattern(
    r"think|thought|reason|analy[sz]|reflect|deliberat|brainstorm|scratch|monologue|commentary|(^|_)plan"
    r"|(^|_)(notes?|note_?pad|memos?|todos?|diary|journal|log|private|secret|internal|hidden|draft)(_|$)"
    r"|memor(y|ies|i[sz]e)|remember|recall|to_?(my)?self|(^|_)(save|store)(_|$)",
    re.I,
)
_OTHER_TOOL: Final = Pattern(
    r"(^|_)(python|ipython|code|bash|shell|terminal|exec(ute)?|run|eval|search|browser?|web|fetch|http|url|file|files"
    r"|sql|query|calculat\w*|wolfram\w*|image|weather|apply_patch)(_|$)",
    re.I,
)
_WORDS = """
    a act action an answer answers call cast choice choose decide decision final format formatted function give json
    make message my object output pick place post provide public reply respond response result return say schema select
    speak speech statement structured submit take talk text the tool vote words your
"""
_ANSWERING: Final = frozenset(_WORDS.split())
"""Words of names that only say that they answer."""
_CHOOSING: Final = frozenset(("vote", "choose", "pick", "select", "cast"))
_SHORTEST: Final = 3  # letters of a name that says anything


def plain_name(name: str) -> str:
    """Return a function's name as models are told it: `functions.Vote:0<|channel|>commentary` becomes `vote`."""
    return re.sub(r"[^a-z0-9_]", "_", _bare(name).lower())


def is_thinking(name: str) -> bool:
    """Return whether a name is that of a tool for thinking aloud, or for words of a model to itself."""
    return _THINKING.search(plain_name(name)) is not None


def is_other_tool(name: str) -> bool:
    """Return whether a name is that of a tool that models are trained with, whose arguments are no decision."""
    return _OTHER_TOOL.search(plain_name(name)) is not None


def may_answer(name: str, asked: Iterable[str] = ()) -> bool:
    """Return whether a function of this name may give the answer to a question with the names `asked`.

    Its name is one of these, or has no words but theirs and such as only say that it answers.
    """
    plain = plain_name(name)
    every = {plain_name(each.replace(" ", "_")) for each in asked}
    if len(plain) < _SHORTEST or plain in every:
        return True
    if is_thinking(name) or is_other_tool(name):
        return False
    known = _ANSWERING.union(*(each.split("_") for each in every)) - {""}
    return all(word in known for word in _words(name))


def chooses(name: str, asked: Iterable[str] = ()) -> bool:
    """Return whether a function's name says that its argument is a choice, unless it is one of the names `asked`."""
    every = {plain_name(each.replace(" ", "_")) for each in asked}
    return plain_name(name) not in every and not _CHOOSING.isdisjoint(_words(name))


def _bare(name: str) -> str:
    bare = re.sub(r":\d+$", "", re.split(r"[<|\s(]", name[:_LONGEST].strip(), maxsplit=1)[0])
    return re.split(r"[.:/]", bare)[-1]


def _words(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", _bare(name)).lower()
    return [word for word in re.split(r"[^a-z]+", spaced) if word]
