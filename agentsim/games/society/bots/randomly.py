"""bot/random: any action, at what there is or at anything, what cannot be too; a tester that finds broken rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from agentsim.engine import Decision, Request, Stream
from agentsim.engine.random_policy import drawn, random_decision
from agentsim.games.society.forms import numbered
from agentsim.games.society.requests import Act, Acted
from agentsim.games.society.turn import Rejected

ODD = 0.15  # of the actions are anything that can be said, most of which cannot be
_WORDS = ("Good morning", "We should share", "Who has energy?", "I disagree", "Count me in", "Let us build")
_OFTEN = ("work", "work", "work", "vote", "vote", "create_proposal", "create_proposal", "trade")
_MOST = {"threshold": 60, "quorum": 2, "days": 3}
"""A rule of voting by which something still passes, and times that are over before the game."""


def random(request: Request[Any], rng: Stream) -> Decision:
    """Any action, most of which hold and some of which do not."""
    assert isinstance(request, Act), f"no policy for {request.kind}"
    if rng.below(60) == 0:
        return Acted(action=Rejected(reason="Failed to parse action"))
    if rng.random() < ODD:
        return random_decision(request, rng)
    kinds = {
        each["properties"]["action"]["enum"][0]: each for each in request.schema()["properties"]["action"]["anyOf"]
    }
    shown = {path: [each.id for each in records] for path, (records, *_) in numbered(request).items()}
    able = [
        name
        for name in (*_OFTEN, *kinds)
        if name in kinds and all(shown.get(f"action.{field}", "any") for field in kinds[name]["properties"])
    ]
    return Acted.model_validate({"action": _Form(request, shown, rng).filled("action", kinds[rng.pick(able)])})


class _Form(NamedTuple):
    """The form that a person fills in, with the numbers of what is `shown` by the path of a field."""

    request: Act
    shown: Mapping[str, list[int]]
    rng: Stream

    def filled(self, path: str, kind: Mapping[str, Any]) -> dict[str, Any]:
        """Every field of a record."""
        said: dict[str, Any] = {}
        for name, legal in kind["properties"].items():
            said[name] = self._field(f"{path}.{name}", name, legal, said)
        return said

    def _field(self, path: str, name: str, whole: Mapping[str, Any], said: Mapping[str, Any]) -> Any:
        """A value that may well come to something: a little, what is shown, what goes with the fields before it."""
        rng, legal = self.rng, self.request.form_schema(path, whole, said)
        match name:
            case "terms":
                count = rng.integer(legal.get("minItems", 0), legal["maxItems"])
                return [self.filled(path, rng.pick(legal["items"]["anyOf"])) for _ in range(count)]
            case "amount" | "for_amount":
                return 0 if said.get("power") == "veto" else f"{rng.integer(0, 3)}.{rng.integer(1, 99):02}"
            case "agents" if said.get("whom") == "work_minimum":
                return []
            case "days" if said.get("later") == "none":
                return 0
            case "vote" | "later":
                return rng.pick((*legal["enum"][:1], *legal["enum"]))
            case "display_name" | "group_name":
                return f"{rng.pick(_WORDS)} {rng.below(100)}"[: legal["maxLength"]]
        if self.shown.get(path):
            return rng.pick(self.shown[path])
        if name in _MOST:
            legal = {**legal, "maximum": min(_MOST[name], legal["maximum"])}
        if legal.get("type") == "string" and "enum" not in legal:
            return f"{rng.pick(_WORDS)}, #{rng.integer(1, self.request.rules.agents)}."[: legal["maxLength"]]
        return drawn(legal, rng)
