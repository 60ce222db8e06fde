"""The house rules of the package, read off its source: which layer imports which, and what no module may do.

Each rule is a function from modules to problems (`file:line: what`). Every rule is shown to find a planted
violation in a small tree of its own, and to let the nearest allowed thing pass.
"""

from __future__ import annotations

import ast
import re
import sys
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from io import StringIO
from pathlib import Path

import pytest

import agentsim

PACKAGE = Path(agentsim.__file__).parent
LONGEST = 300
FOUNDATION = ("errors",)
KERNEL = (*FOUNDATION, "engine")
MODELS = (*KERNEL, "models")
GAMES_AND_PLAYERS = (*MODELS, "games", "players")
RECORDS = (*GAMES_AND_PLAYERS, "scenario", "history")

# What each layer may import besides itself. A dotted name is that module alone.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "": ("api", "results", "models.base", "scenario.schema"),  # on first use: see tests/cli/test_help.py
    "api": (*RECORDS, "runner", "results", "environment"),
    "results": (*RECORDS, "report"),
    "environment": (*FOUNDATION, "models.permits"),
    "errors": (),
    "engine": FOUNDATION,
    "models": (*FOUNDATION, "engine.codec", "engine.prompt"),
    "games": KERNEL,
    "players": MODELS,
    "scenario": RECORDS,
    "history": RECORDS,
    "runner": RECORDS,
    "report": RECORDS,
    "analysis": RECORDS,
    "cli": (*RECORDS, "runner", "report", "analysis", "environment"),
    "__main__": ("cli",),
}
PURE = ("engine", "games")
WORLDLY = frozenset(
    (
        *("asyncio", "random", "time", "datetime", "os", "pathlib", "logging", "subprocess", "socket"),
        *("httpx", "httpx2", "openai", "typer", "rich"),
    )
)
REGISTRIES = ("games/__init__.py", "games/market/artifacts/__init__.py")  # where a folder is the registration
REGISTRY_ONLY = frozenset({"importlib", "pkgutil"})
SCREEN = ("cli/display.py", "cli/progress.py", "cli/batch_progress.py")
# where a process ends, or a game does, and its error becomes a line for another
BOUNDARIES = ("cli/app.py", "models/llama.py", "runner/batch/worker.py")
RICH_SINKS = frozenset({"print", "add_row", "add_column", "add_task"})


@dataclass(frozen=True)
class Module:
    """One source file; `path` is relative to the package."""

    path: str
    source: str
    tree: ast.Module

    @property
    def parts(self) -> tuple[str, ...]:
        parts = tuple(self.path.removesuffix(".py").split("/"))
        return parts[:-1] if parts[-1] == "__init__" else parts

    @property
    def layer(self) -> str:
        return self.parts[0] if self.parts else ""

    @cached_property
    def nodes(self) -> Sequence[ast.AST]:
        """Every node of the tree: each rule looks at them, and nobody changes them."""
        return tuple(ast.walk(self.tree))

    def imports(self, known: frozenset[str]) -> Iterator[tuple[int, str]]:
        """(line, dotted module) of every import anywhere in the file, those for type checking too."""
        package = ("agentsim", *(self.parts if self.path.endswith("__init__.py") else self.parts[:-1]))
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield node.lineno, alias.name
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else ()
                module = ".".join((*base, *([node.module] if node.module else [])))
                for alias in node.names:
                    deeper = f"{module}.{alias.name}"
                    yield node.lineno, deeper if deeper in known else module

    def calls(self) -> Iterator[tuple[ast.Call, str, str]]:
        """(call, what stands before the last dot, name) of every call of something with a name."""
        for node in self.nodes:
            if isinstance(node, ast.Call):
                if isinstance(node.func, ast.Name):
                    yield node, "", node.func.id
                elif isinstance(node.func, ast.Attribute):
                    yield node, ast.unparse(node.func.value), node.func.attr

    def comments(self) -> Iterator[tuple[int, str]]:
        for token in tokenize.generate_tokens(StringIO(self.source).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


@cache
def modules(root: Path) -> list[Module]:
    paths = sorted(root.rglob("*.py"))
    sources = [(path, path.read_text(encoding="utf-8")) for path in paths]
    return [Module(path.relative_to(root).as_posix(), source, ast.parse(source)) for path, source in sources]


Rule = Callable[[Sequence[Module]], Iterator[str]]
RULES: dict[str, Rule] = {}


def rule(function: Rule) -> Rule:
    RULES[function.__name__] = function
    return function


def _names(package: Sequence[Module]) -> frozenset[str]:
    return frozenset(".".join(("agentsim", *module.parts)) for module in package)


def _within(target: str, allowed: str) -> bool:
    return target == allowed or target.startswith(f"{allowed}.")


@rule
def imports_go_downwards_only(package: Sequence[Module]) -> Iterator[str]:
    known = _names(package)
    for module in package:
        if module.layer not in MAY_IMPORT:
            yield f"{module.path}:1: {module.layer!r} is no layer of the design"
            continue
        for line, name in module.imports(known):
            if not _within(name, "agentsim") or name == "agentsim":
                continue
            target = name.removeprefix("agentsim.")
            layer = target.split(".", maxsplit=1)[0]
            if layer != module.layer and not any(_within(target, place) for place in MAY_IMPORT[module.layer]):
                yield f"{module.path}:{line}: {module.layer or 'the package itself'} may not import {target}"


@rule
def one_game_never_imports_another(package: Sequence[Module]) -> Iterator[str]:
    known = _names(package)
    for module in package:
        if module.layer != "games":
            continue
        own = ".".join(("agentsim", *module.parts[:2]))
        for line, name in module.imports(known):
            if _within(name, "agentsim.games") and not _within(name, own):
                yield f"{module.path}:{line}: {own.removeprefix('agentsim.')} may not import {name}"


@rule
def engine_and_games_touch_nothing_of_the_world(package: Sequence[Module]) -> Iterator[str]:
    """No IO, no clock, no loop, no entropy; besides the standard library pydantic alone."""
    for module in package:
        if module.layer not in PURE:
            continue
        banned = WORLDLY | (frozenset() if module.path in REGISTRIES else REGISTRY_ONLY)
        for line, name in module.imports(_names(package)):
            top = name.split(".", maxsplit=1)[0]
            if top in banned or top not in {*sys.stdlib_module_names, "pydantic", "pydantic_core", "agentsim"}:
                yield f"{module.path}:{line}: {module.layer} may not import {name}"
        for call, owner, name in module.calls():
            if not owner and name in {"open", "print", "input", "exec", "eval", "__import__"}:
                yield f"{module.path}:{call.lineno}: {module.layer} may not call {name}"


@rule
def nothing_draws_from_the_global_generator(package: Sequence[Module]) -> Iterator[str]:
    for module in package:
        for line, name in module.imports(frozenset()):
            if name.split(".", maxsplit=1)[0] == "random":
                yield f"{module.path}:{line}: chance is seeded and named; `random` is neither"


@rule
def no_module_is_too_long(package: Sequence[Module]) -> Iterator[str]:
    for module in package:
        if (lines := len(module.source.splitlines())) > LONGEST:
            yield f"{module.path}:{lines}: longer than {LONGEST} lines"


@rule
def every_module_says_what_it_is(package: Sequence[Module]) -> Iterator[str]:
    for module in package:
        if not (ast.get_docstring(module.tree) or "").strip():
            yield f"{module.path}:1: has no docstring"


_IGNORE = re.compile(
    r"#\s*(?:type:\s*ignore(?:\[[^\]]*\])?|noqa(?::\s*[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)?|pragma:\s*no cover)"
)


@rule
def every_ignore_has_a_reason(package: Sequence[Module]) -> Iterator[str]:
    for module in package:
        for line, comment in module.comments():
            left, found = _IGNORE.subn("", comment)
            if found and len(re.findall(r"[A-Za-z]{2,}", left)) < 2:
                yield f"{module.path}:{line}: {comment} gives no reason"


@rule
def every_ignore_names_what_it_ignores(package: Sequence[Module]) -> Iterator[str]:
    for module in package:
        for line, comment in module.comments():
            if re.search(r"#\s*(?:type:\s*ignore(?!\[)|noqa(?!:))", comment):
                yield f"{module.path}:{line}: {comment} ignores everything"


@rule
def text_files_say_their_encoding(package: Sequence[Module]) -> Iterator[str]:
    for module in package:
        for call, owner, name in module.calls():
            words = {keyword.arg for keyword in call.keywords}
            if "encoding" in words or (owner in {"os", "webbrowser"} and name == "open"):
                continue
            if name in {"read_text", "write_text"}:
                plain = len(call.args) < (1 if name == "read_text" else 2)
            elif name in {"open", "fdopen"}:
                plain = _opens_text(call, of_path=bool(owner) and owner not in {"os", "io"})
            else:
                continue
            if plain:
                yield f"{module.path}:{call.lineno}: {name} without encoding"


def _opens_text(call: ast.Call, *, of_path: bool) -> bool:
    """Whether this opens a file as text. A method called `open` is a file's if its mode or its owner's name says so."""
    place = 0 if of_path else 1
    mode = (
        call.args[place] if len(call.args) > place else next((k.value for k in call.keywords if k.arg == "mode"), None)
    )
    if isinstance(mode, ast.Constant) and isinstance(mode.value, str):
        return re.fullmatch("[rwaxt+]+", mode.value) is not None
    if not of_path:
        return True
    assert isinstance(call.func, ast.Attribute), "only a method is a path's"
    return re.search("path|file", ast.unparse(call.func.value), re.IGNORECASE) is not None


@rule
def no_bare_except(package: Sequence[Module]) -> Iterator[str]:
    for module in package:
        for node in module.nodes:
            if isinstance(node, ast.ExceptHandler) and node.type is None:
                yield f"{module.path}:{node.lineno}: bare except"


@rule
def only_boundaries_catch_everything(package: Sequence[Module]) -> Iterator[str]:
    """`except Exception` stands where an error becomes a line; elsewhere what is caught is raised again."""
    for module in package:
        if module.path in BOUNDARIES:
            continue
        for node in module.nodes:
            if isinstance(node, ast.ExceptHandler) and node.type is not None:
                caught = {part.id for part in ast.walk(node.type) if isinstance(part, ast.Name)}
                last = node.body[-1]
                if caught & {"Exception", "BaseException"} and not (isinstance(last, ast.Raise)):
                    yield f"{module.path}:{node.lineno}: catches everything and does not raise it again"


@rule
def dunder_all_is_sorted_and_true(package: Sequence[Module]) -> Iterator[str]:
    """Constants, then classes, then functions, each by name (as ruff sorts them); nothing that is not there."""
    for module in package:
        for node in module.tree.body:
            if not (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"):
                continue
            listed: list[str] = ast.literal_eval(node.value)
            if listed != sorted(listed, key=_rank) or len(set(listed)) < len(listed):
                yield f"{module.path}:{node.lineno}: __all__ is not sorted"
            if missing := sorted(set(listed) - _defined(module.tree)):
                yield f"{module.path}:{node.lineno}: __all__ names {', '.join(missing)}, which is not here"


def _rank(name: str) -> tuple[int, list[str | tuple[int, str]], str]:
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name.lstrip("_")[:1].isupper() else 2
    return kind, [(int(part), part) if part.isdigit() else part for part in re.findall(r"\d+|\D+", name)], name


def _defined(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


@rule
def only_the_display_prints(package: Sequence[Module]) -> Iterator[str]:
    for module in package:
        if module.path in SCREEN:
            continue
        for call, owner, name in module.calls():
            if name == "print" and not re.fullmatch("traceback", owner):
                yield f"{module.path}:{call.lineno}: only the display prints"


@rule
def rich_is_given_no_strings(package: Sequence[Module]) -> Iterator[str]:
    """Where Rich is imported, what it shows is a renderable: a `str` would be read as markup."""
    for module in package:
        if not any(name.split(".", maxsplit=1)[0] == "rich" for _, name in module.imports(frozenset())):
            continue
        strings = {
            target.id
            for node in module.nodes
            if isinstance(node, ast.Assign) and _is_string(node.value, frozenset())
            for target in node.targets
            if isinstance(target, ast.Name)
        } | {arg.arg for arg in module.nodes if isinstance(arg, ast.arg) and _says_str(arg.annotation)}
        for call, owner, name in module.calls():
            constructs = name in {"Rule", "Panel", "Group", "Columns", "Align"} and not owner
            if not (constructs or (owner and name in RICH_SINKS)):
                continue
            for value in (*call.args, *(k.value for k in call.keywords if k.arg in {"title", "description"})):
                if _is_string(value, frozenset(strings)):
                    yield f"{module.path}:{call.lineno}: {name} is given a str, not Text: {ast.unparse(value)}"


def _says_str(annotation: ast.expr | None) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id == "str"


def _is_string(value: ast.expr, strings: frozenset[str]) -> bool:
    """Whether an expression is surely text, as far as its form shows."""
    match value:
        case ast.JoinedStr() | ast.Constant(value=str()):
            return True
        case ast.BinOp(left=left, right=right):
            return _is_string(left, strings) or _is_string(right, strings)
        case ast.IfExp(body=body, orelse=orelse):
            return _is_string(body, strings) or _is_string(orelse, strings)
        case ast.Call(func=ast.Name(id="str" | "safe" | "shortened" | "repr" | "format")):
            return True
        case ast.Call(func=ast.Attribute(attr="join" | "format" | "strip" | "replace")):
            return True
        case ast.Attribute(attr="content" | "heading" | "text" | "player" | "kind"):
            return True
        case ast.Name(id=name):
            return name in strings
    return False


@pytest.mark.parametrize("name", RULES)
def test_the_package_keeps_the_rule(name: str) -> None:
    package = modules(PACKAGE)
    assert len(package) > 50
    problems = list(RULES[name](package))
    assert not problems, "\n".join(problems)


def test_every_layer_of_the_design_is_there_or_to_come() -> None:
    there = {module.layer for module in modules(PACKAGE)}
    assert set(MAY_IMPORT) - there <= {"analysis"}, "a layer that is gone still has a row in MAY_IMPORT"


# --------------------------------------------------------------------------- each rule can fail

DOC = '"""Something."""\n'
TYPED = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "

PLANTED: dict[str, tuple[str, str, str, str]] = {
    # rule, file, source after its docstring (which is line 1), problem after the file's name
    "report knows no runner": (
        "imports_go_downwards_only",
        "report/page.py",
        "from agentsim.runner.session import begin",
        "2: report may not import runner.session",
    ),
    "runner knows no report": (
        "imports_go_downwards_only",
        "runner/drive.py",
        "from agentsim.report import page",
        "2: runner may not import report.page",
    ),
    "analysis knows no command line": (
        "imports_go_downwards_only",
        "analysis/ratings.py",
        "def f():\n    import agentsim.cli.app",
        "3: analysis may not import cli.app",
    ),
    "history knows no runner, not even its types": (
        "imports_go_downwards_only",
        "history/fold.py",
        f"{TYPED}from agentsim.runner.watch import Watcher",
        "4: history may not import runner.watch",
    ),
    "scenario knows no report": (
        "imports_go_downwards_only",
        "scenario/load.py",
        "from agentsim.report.page import render",
        "2: scenario may not import report.page",
    ),
    "players know no games": (
        "imports_go_downwards_only",
        "players/bot.py",
        "from agentsim import games",
        "2: players may not import games",
    ),
    "players know no history": (
        "imports_go_downwards_only",
        "players/base.py",
        "from ..history.entry import Entry",
        "2: players may not import history.entry",
    ),
    "games know no players": (
        "imports_go_downwards_only",
        "games/chess/bots.py",
        "from agentsim.players.bot import BotPlayer",
        "2: games may not import players.bot",
    ),
    "games know no models": (
        "imports_go_downwards_only",
        "games/chess/view.py",
        f"{TYPED}from agentsim.models.base import Model",
        "4: games may not import models.base",
    ),
    "models know no players": (
        "imports_go_downwards_only",
        "models/base.py",
        "from agentsim.players import base",
        "2: models may not import players",
    ),
    "models know prompts, not requests": (
        "imports_go_downwards_only",
        "models/body.py",
        "from agentsim.engine import prompt\nfrom agentsim.engine.request import Request",
        "3: models may not import engine.request",
    ),
    "models know no engine as a whole": (
        "imports_go_downwards_only",
        "models/body.py",
        "import agentsim.engine",
        "2: models may not import engine",
    ),
    "engine knows no games": (
        "imports_go_downwards_only",
        "engine/play.py",
        "from ..games import find",
        "2: engine may not import games",
    ),
    "errors know nobody": (
        "imports_go_downwards_only",
        "errors.py",
        "from agentsim.engine.event import Event",
        "2: errors may not import engine.event",
    ),
    "the package itself offers DataFrames and nothing else": (
        "imports_go_downwards_only",
        "__init__.py",
        "from agentsim.errors import AgentsimError",
        "2: the package itself may not import errors",
    ),
    "a new folder needs a place": (
        "imports_go_downwards_only",
        "plugins/core.py",
        "",
        "1: 'plugins' is no layer of the design",
    ),
    "another game": (
        "one_game_never_imports_another",
        "games/chess/game.py",
        "from agentsim.games.go.state import Board",
        "2: games.chess may not import agentsim.games.go.state",
    ),
    "another game, relatively": (
        "one_game_never_imports_another",
        "games/chess/game.py",
        "from ..go import state",
        "2: games.chess may not import agentsim.games.go",
    ),
    "another game through the registry": (
        "one_game_never_imports_another",
        "games/chess/game.py",
        "from agentsim.games import find",
        "2: games.chess may not import agentsim.games",
    ),
    **{
        f"no {name} in a game": (
            "engine_and_games_touch_nothing_of_the_world",
            "games/chess/game.py",
            f"def f():\n    import {name}",
            f"3: games may not import {name}",
        )
        for name in sorted(WORLDLY | REGISTRY_ONLY)
    },
    "no part of one either": (
        "engine_and_games_touch_nothing_of_the_world",
        "engine/chance.py",
        f"{TYPED}from os.path import join",
        "4: engine may not import os.path",
    ),
    "the registry may find, not read": (
        "engine_and_games_touch_nothing_of_the_world",
        "games/__init__.py",
        "import importlib, pkgutil\nimport pathlib",
        "3: games may not import pathlib",
    ),
    "no other library": (
        "engine_and_games_touch_nothing_of_the_world",
        "games/chess/game.py",
        "import pydantic\nimport numpy",
        "3: games may not import numpy",
    ),
    "no file in the rules": (
        "engine_and_games_touch_nothing_of_the_world",
        "games/chess/game.py",
        "x = open('x', encoding='utf-8')",
        "2: games may not call open",
    ),
    "global chance": (
        "nothing_draws_from_the_global_generator",
        "models/spacing.py",
        "def f():\n    from random import random",
        "3: chance is seeded and named; `random` is neither",
    ),
    "too long": ("no_module_is_too_long", "cli/app.py", "x = 1\n" * LONGEST, f"{LONGEST + 1}: longer than 300 lines"),
    "ignore without reason": (
        "every_ignore_has_a_reason",
        "cli/app.py",
        "x = 1  # type: ignore[misc]",
        "2: # type: ignore[misc] gives no reason",
    ),
    "noqa without reason": (
        "every_ignore_has_a_reason",
        "cli/app.py",
        "x = 1  # noqa: E501, T201",
        "2: # noqa: E501, T201 gives no reason",
    ),
    "no cover without reason": (
        "every_ignore_has_a_reason",
        "cli/app.py",
        "x = 1  # pragma: no cover",
        "2: # pragma: no cover gives no reason",
    ),
    "ignores everything": (
        "every_ignore_names_what_it_ignores",
        "cli/app.py",
        "x = 1  # type: ignore # because of the weather",
        "2: # type: ignore # because of the weather ignores everything",
    ),
    "noqa of everything": (
        "every_ignore_names_what_it_ignores",
        "cli/app.py",
        "x = 1  # noqa (because of the weather)",
        "2: # noqa (because of the weather) ignores everything",
    ),
    "open": ("text_files_say_their_encoding", "cli/app.py", "x = open('x')", "2: open without encoding"),
    "open to write": (
        "text_files_say_their_encoding",
        "cli/app.py",
        "x = open('x', mode='w')",
        "2: open without encoding",
    ),
    "path.open": ("text_files_say_their_encoding", "cli/app.py", "x = path.open()", "2: open without encoding"),
    "path.open to append": (
        "text_files_say_their_encoding",
        "cli/app.py",
        "x = self.journal.open('a')",
        "2: open without encoding",
    ),
    "fdopen": ("text_files_say_their_encoding", "cli/app.py", "x = os.fdopen(3, 'w')", "2: fdopen without encoding"),
    "read_text": ("text_files_say_their_encoding", "cli/app.py", "x = p.read_text()", "2: read_text without encoding"),
    "write_text": (
        "text_files_say_their_encoding",
        "cli/app.py",
        "p.write_text('x')",
        "2: write_text without encoding",
    ),
    "bare except": ("no_bare_except", "cli/app.py", "try:\n    x = 1\nexcept:\n    raise", "4: bare except"),
    "swallowed": (
        "only_boundaries_catch_everything",
        "runner/drive.py",
        "try:\n    x = 1\nexcept (OSError, Exception):\n    x = 2",
        "4: catches everything and does not raise it again",
    ),
    "no docstring": ("every_module_says_what_it_is", "cli/empty.py", "-", "1: has no docstring"),
    "unsorted": (
        "dunder_all_is_sorted_and_true",
        "cli/app.py",
        "__all__ = ['b', 'a']\na = b = 1",
        "2: __all__ is not sorted",
    ),
    "twice": (
        "dunder_all_is_sorted_and_true",
        "cli/app.py",
        "__all__ = ['a', 'a']\na = 1",
        "2: __all__ is not sorted",
    ),
    "not there": (
        "dunder_all_is_sorted_and_true",
        "cli/app.py",
        "__all__ = ['a', 'b']\na = 1",
        "2: __all__ names b, which is not here",
    ),
    "print": ("only_the_display_prints", "runner/drive.py", "print('x')", "2: only the display prints"),
    "console.print": (
        "only_the_display_prints",
        "cli/runs.py",
        "console.print(Text(x))",
        "2: only the display prints",
    ),
    "a string for the console": (
        "rich_is_given_no_strings",
        "cli/progress.py",
        "from rich.console import Console\ndef f(console, words: str):\n    console.print(words)",
        "4: print is given a str, not Text: words",
    ),
    "words in a cell": (
        "rich_is_given_no_strings",
        "cli/progress.py",
        "from rich.table import Table\ntable.add_row(Text('x'), event.content)",
        "3: add_row is given a str, not Text: event.content",
    ),
    "an f-string": (
        "rich_is_given_no_strings",
        "cli/progress.py",
        "import rich\nconsole.print(f'{x}')",
        "3: print is given a str, not Text: f'{x}'",
    ),
    "a title": (
        "rich_is_given_no_strings",
        "cli/progress.py",
        "from rich.panel import Panel\nPanel(body, title=safe(name))",
        "3: Panel is given a str, not Text: safe(name)",
    ),
    "safe words are strings still": (
        "rich_is_given_no_strings",
        "cli/progress.py",
        "import rich\nline = 'a' + b\nconsole.print(line)",
        "4: print is given a str, not Text: line",
    ),
}

# What stands nearest to a violation and is none, in one tree.
ALLOWED: dict[str, str] = {
    "errors.py": "import sys",
    "engine/prompt.py": "import re\nfrom pydantic import BaseModel",
    "engine/request.py": "from .prompt import Prompt\nfrom ..errors import AgentsimError",
    "models/base.py": "import time, os\nfrom agentsim.engine.prompt import cleaned\nfrom agentsim.engine import prompt",
    "games/__init__.py": "import importlib, pkgutil\nfrom importlib.metadata import entry_points",
    "games/chess/__init__.py": "from agentsim.games.chess.game import GAME",
    "games/chess/game.py": "from agentsim.engine.request import R\nfrom . import view\nstate.open('e4')\nGAME = 1",
    "games/chess/view.py": "import dataclasses\nfrom typing import Any",
    "players/bot.py": "from agentsim.models.base import Model",
    "scenario/load.py": "from agentsim import games, __version__",
    "history/fold.py": "from agentsim.scenario.load import load\nfrom agentsim.players.bot import B",
    "report/page.py": "from agentsim.history.fold import fold",
    "runner/drive.py": "try:\n    x = 1\nexcept BaseException:\n    x = 2\n    raise",
    "cli/app.py": (
        "import rich, os\nfrom agentsim.runner.drive import drive\nfrom agentsim.report.page import render\n"
        "__all__ = ['MODE', 'App', 'app', 'app2', 'app10']\nMODE = App = app = app2 = app10 = 1\n"
        "x = os.open('x', 0)\ny = open('x', 'rb')\nz = path.open(mode='rb')\nendpoint.open()\n"
        "p.read_text(encoding='utf-8')\nr.read_text('utf-8')\np.write_text('x', 'utf-8')\n"
        "w = 1  # type: ignore[misc] # mypy cannot see this\n"
        "v = 1  # noqa: S704 (escaped above)\nu = 1  # pragma: no cover - only on Windows\n"
    ),
    "cli/display.py": "print('x')",
    "cli/progress.py": (
        "from rich.text import Text\nline = Text('x')\nconsole.print(line)\ntable.add_row(spinner, Text(safe(x)))"
    ),
}


def _planted(root: Path, files: dict[str, str]) -> list[Module]:
    for name, source in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("" if source == "-" else DOC + source, encoding="utf-8")
    return modules(root)


@pytest.mark.parametrize(("name", "file", "source", "problem"), PLANTED.values(), ids=PLANTED)
def test_a_planted_violation_is_found(name: str, file: str, source: str, problem: str, tmp_path: Path) -> None:
    package = _planted(tmp_path, ALLOWED | {file: source})
    assert list(RULES[name](package)) == [f"{file}:{problem}"]


@pytest.mark.parametrize("name", RULES)
def test_what_is_allowed_passes(name: str, tmp_path: Path) -> None:
    assert list(RULES[name](_planted(tmp_path, ALLOWED))) == []


def test_every_rule_has_been_seen_to_fail() -> None:
    assert {name for name, *_ in PLANTED.values()} == set(RULES)
