"""Guard: what artifacts give is looked at, so that a mistake names the artifact and the method in one line.

The authors of artifacts are many, and what goes wrong in one of them is no riddle for who plays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple, TypeVar

from agentsim.engine.capability import Refused
from agentsim.errors import AgentsimError, RulesBroken
from agentsim.games.market.order_book import Order

C = TypeVar("C", bound=Callable[..., Any])
SHOWN = 60  # characters of what was returned


class Faulty(RulesBroken):
    """A mistake in an artifact, with the names of the artifact and of its method."""


class Returns(NamedTuple):
    """What a method must return, in words; `lets` are exceptions that are no mistake of it."""

    words: str
    fits: Callable[[Any], bool]
    lets: tuple[type[Exception], ...] = ()


def _answer(found: Any) -> bool:
    try:
        json.dumps(found, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return isinstance(found, Mapping)


def _amounts(found: Any) -> bool:
    return isinstance(found, Mapping) and all(type(amount) is int for amount in found.values())


def _rows(kind: type) -> Callable[[Any], bool]:
    return lambda found: (
        isinstance(found, Sequence) and not isinstance(found, str) and all(isinstance(each, kind) for each in found)
    )


NOTHING = Returns("nothing", lambda found: found is None)
ACTION = Returns("a text for the agent", lambda found: isinstance(found, str), (Refused,))
QUERY = Returns("an object of JSON values", _answer, (Refused,))
HOOKS: Mapping[str, Returns] = {
    # what cannot be made of so many agents or goods is the scenario's mistake
    "__init__": NOTHING._replace(lets=(ValueError,)),
    **dict.fromkeys(("round_began", "round_ended", "period_ended", "game_ended"), NOTHING),
    **dict.fromkeys(("promised", "most"), Returns("whole numbers by name", _amounts)),
    "shown": Returns("an object of JSON values", _answer),
    "barred": Returns("a frozenset of names", lambda found: isinstance(found, frozenset)),
    "orders": Returns("a list of Order", _rows(Order)),
    "claims": Returns("a whole number", lambda found: type(found) is int),
    "check": Returns("a list of texts", _rows(str)),
}


def guarded(artifact: str, name: str, method: C, returns: Returns) -> C:
    """The method, whose mistakes name the artifact and the method."""
    where = f"artifact {artifact}: {'the constructor' if name == '__init__' else name}"
    no_mistake: tuple[type[Exception], ...] = (Faulty, *returns.lets)

    @wraps(method)
    def called(*given: Any, **named: Any) -> Any:
        try:
            found = method(*given, **named)
        except no_mistake:
            raise
        except Exception as error:  # its author's code may raise anything
            what = str(error) if isinstance(error, AgentsimError) else f"{type(error).__name__}: {error}"
            raise Faulty(f"{where} failed: {' '.join(what.split())}") from error
        if not returns.fits(found):
            raise Faulty(f"{where} must return {returns.words}, and returned {_shown(found)}")
        return found

    return called  # type: ignore[return-value] # it takes and gives what the method does


def _shown(found: Any) -> str:
    text = repr(found)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
