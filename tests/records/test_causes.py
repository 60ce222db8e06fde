"""Every reason of a fallback has one cause."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args, get_type_hints

import agentsim
from agentsim.errors import DecisionError
from agentsim.players.web import NO_ANSWER, WITHDRAWN
from agentsim.records.causes import CAUSE_OF, CAUSES, cause_of
from agentsim.records.diagnostics import empty_reply_code
from agentsim.records.fallback_rates import FallbackRate, fallback_rates
from agentsim.records.journal import WAVE_DEADLINE
from tests.amounts import each_row
from tests.cli.command_line import ROOT

PACKAGE = Path(agentsim.__file__).parent


def given_as_codes(module: ast.Module) -> Iterator[str]:
    """Every text that the code of a module gives as the code of an error, or as the refusal of a reply."""
    named = dict[str, list[ast.expr]]()
    for node in ast.walk(module):
        if isinstance(node, ast.Assign):
            for name, value in assigned(node):
                named.setdefault(name, []).append(value)
    for node in ast.walk(module):
        if isinstance(node, ast.keyword) and node.arg in {"code", "refusal"}:
            yield from texts(node.value, named)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "_rejected":
            yield from texts(node.args[0], named)


def assigned(node: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """The names that are assigned, each with its value: also those of `A, B = "a", "b"`."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
        else:
            pairs = [(target, node.value)]
        yield from ((each.id, value) for each, value in pairs if isinstance(each, ast.Name))


def texts(value: ast.expr, named: Mapping[str, list[ast.expr]]) -> Iterator[str]:
    """The texts that an expression can be; those of an f-string are no reasons of their own."""
    match value:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from texts(body, named)
            yield from texts(orelse, named)
        case ast.Name(id=name):
            rest = {other: values for other, values in named.items() if other != name}
            for each in named.get(name, []):
                yield from texts(each, rest)


def reasons_in_the_source() -> set[str]:
    modules = [*(PACKAGE / "models").rglob("*.py"), *(PACKAGE / "runs").rglob("*.py"), PACKAGE / "errors.py"]
    found = {code for path in modules for code in given_as_codes(ast.parse(path.read_text("utf-8")))}
    empty = get_args(get_args(get_type_hints(empty_reply_code)["return"])[0])
    return found | {*empty, NO_ANSWER, WITHDRAWN, WAVE_DEADLINE}


def test_no_reason_lacks_a_cause() -> None:
    found = reasons_in_the_source() | {error.code for error in DecisionError.__subclasses__()}
    assert {"timeout", "rate_limited", "bad_key", "content_filter", "refusal", "empty_reasoning"} <= found
    assert found == set(CAUSE_OF)


def test_a_bad_reply_is_always_the_model_s() -> None:
    assert {CAUSE_OF[error.code] for error in DecisionError.__subclasses__()} == {"model"}


def test_the_documented_causes_are_those_of_the_table() -> None:
    page = (ROOT / "docs/models.md").read_text("utf-8")
    rows = re.findall(r"^\| `(host|model|person|deadline)` \| .* \| (.*) \|$", page, re.MULTILINE)
    words = {cause: set(re.findall(r"`(\w+)`", cells)) for cause, cells in rows}
    assert list(words) == list(CAUSES)
    assert words == {cause: {word for word, its in CAUSE_OF.items() if its == cause} for cause in CAUSES}


@each_row(
    "reason, cause",
    [
        *(("http_503", "host"), ("context", "host"), ("illegal", "model"), ("empty_reasoning", "model")),
        *(("refusal", "model"), ("content_filter", "host"), ("moderation", "host"), ("bad_envelope", "host")),
        *((NO_ANSWER, "person"), (WITHDRAWN, "person"), (WAVE_DEADLINE, "deadline"), ("of_a_plugin", "host")),
    ],
)
def test_the_cause_of_a_reason(reason: str, cause: str) -> None:
    assert cause_of(reason) == cause


def test_lost_decisions_are_counted_by_cause() -> None:
    made = [(1, "A", "model"), (2, "A", "fallback"), (3, "B", "fallback"), (4, "B", "bot")]
    found = fallback_rates(made, reasons={2: "http_500", 3: "illegal"})
    assert found.by_player == {"A": FallbackRate(2, 1, host=1), "B": FallbackRate(1, 1, model=1)}
    assert found.in_words.startswith("2 of 3 (67%); by cause: host 1, model 1; by player")
    assert found.to_json()["causes"] == {"host": 1, "model": 1, "person": 0, "deadline": 0}
