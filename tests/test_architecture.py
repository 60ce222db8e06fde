"""The architecture of the package: imports between layers, and forbidden constructs.

Rules that import-linter and ruff can check are declared in pyproject.toml. Each other rule is a function from modules
to problems (`file:line: problem`). Every rule is tested with a violation, and with the nearest legal code.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from io import StringIO
from pathlib import Path

import pytest

import agentsim
from tests.amounts import some_of

PACKAGE = Path(agentsim.__file__).parent
ROOT = PACKAGE.parent
PURE = ("engine", "games")
WORLDLY = frozenset(
    (
        *("asyncio", "random", "time", "datetime", "os", "pathlib", "logging", "subprocess", "socket"),
        *("httpx", "httpx2", "openai", "typer", "rich"),
    )
)
REGISTRIES = ("games/__init__.py", "games/market/artifacts/__init__.py")  # a folder is the registration here
REGISTRY_ONLY = frozenset({"importlib", "pkgutil"})
SCREEN = ("cli/display.py", "cli/panels.py")
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
        """Every node of the tree, cached for all rules, which must not change them."""
        return tuple(ast.walk(self.tree))

    def imports(self, known: frozenset[str]) -> Iterator[tuple[int, str]]:
        """Yield (line, dotted module) for every import in the file, those for type checking too."""
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
        """Yield (call, text before the last dot, name) for every call of a named function."""
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


@rule
def engine_and_games_touch_nothing_of_the_world(package: Sequence[Module]) -> Iterator[str]:
    """Yield uses of IO, clocks, event loops or entropy, and imports besides the standard library and pydantic."""
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


_IGNORE = re.compile(
    r"#\s*(?:type:\s*ignore(?:\[[^\]]*\])?|noqa(?::\s*[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)?|pragma:\s*no cover)"
)


@rule
def every_ignore_has_a_reason(package: Sequence[Module]) -> Iterator[str]:
    for module in package:
        for line, comment in module.comments() if _IGNORE.search(module.source) else ():  # tokens take long
            left, found = _IGNORE.subn("", comment)
            if found and len(re.findall(r"[A-Za-z]{2,}", left)) < 2:
                yield f"{module.path}:{line}: {comment} gives no reason"


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
    """Return whether a call opens a file as text; a method `open` does if its mode or its owner's name says so."""
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
def only_the_display_prints(package: Sequence[Module]) -> Iterator[str]:
    for module in package:
        if module.path in SCREEN:
            continue
        for call, owner, name in module.calls():
            if name == "print" and not re.fullmatch("traceback", owner):
                yield f"{module.path}:{call.lineno}: only the display prints"


@rule
def rich_is_given_no_strings(package: Sequence[Module]) -> Iterator[str]:
    """Yield strings passed to Rich as renderables, since Rich would read them as markup."""
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
    """Return whether an expression is certainly text, judged by its form."""
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


# --------------------------------------------------------------------------- each rule can fail

DOC = '"""Something."""\n'
TYPED = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "

_PLANTED: dict[Rule, dict[str, tuple[str, str, str]]] = {
    # file, source after its docstring (which is line 1), problem after the file's name
    engine_and_games_touch_nothing_of_the_world: {
        **{
            f"no {name} in a game": (
                "games/chess/game.py",
                f"def f():\n    import {name}",
                f"3: games may not import {name}",
            )
            for name in sorted(WORLDLY | REGISTRY_ONLY)
        },
        "no part of one either": (
            "engine/chance.py",
            f"{TYPED}from os.path import join",
            "4: engine may not import os.path",
        ),
        "the registry may find, not read": (
            "games/__init__.py",
            "import importlib, pkgutil\nimport pathlib",
            "3: games may not import pathlib",
        ),
        "no other library": ("games/chess/game.py", "import pydantic\nimport numpy", "3: games may not import numpy"),
        "no file in the rules": (
            "games/chess/game.py",
            "x = open('x', encoding='utf-8')",
            "2: games may not call open",
        ),
    },
    every_ignore_has_a_reason: {
        "ignore without reason": (
            "cli/app.py",
            "x = 1  # type: ignore[misc]",
            "2: # type: ignore[misc] gives no reason",
        ),
        "noqa without reason": ("cli/app.py", "x = 1  # noqa: E501, T201", "2: # noqa: E501, T201 gives no reason"),
        "no cover without reason": ("cli/app.py", "x = 1  # pragma: no cover", "2: # pragma: no cover gives no reason"),
    },
    text_files_say_their_encoding: {
        "open": ("cli/app.py", "x = open('x')", "2: open without encoding"),
        "open to write": ("cli/app.py", "x = open('x', mode='w')", "2: open without encoding"),
        "path.open": ("cli/app.py", "x = path.open()", "2: open without encoding"),
        "path.open to append": ("cli/app.py", "x = self.journal.open('a')", "2: open without encoding"),
        "fdopen": ("cli/app.py", "x = os.fdopen(3, 'w')", "2: fdopen without encoding"),
        "read_text": ("cli/app.py", "x = p.read_text()", "2: read_text without encoding"),
        "write_text": ("cli/app.py", "p.write_text('x')", "2: write_text without encoding"),
    },
    only_the_display_prints: {
        "print": ("runs/loop.py", "print('x')", "2: only the display prints"),
        "console.print": ("cli/saved_runs.py", "console.print(Text(x))", "2: only the display prints"),
    },
    rich_is_given_no_strings: {
        "a string for the console": (
            "cli/panels.py",
            "from rich.console import Console\ndef f(console, words: str):\n    console.print(words)",
            "4: print is given a str, not Text: words",
        ),
        "words in a cell": (
            "cli/panels.py",
            "from rich.table import Table\ntable.add_row(Text('x'), event.content)",
            "3: add_row is given a str, not Text: event.content",
        ),
        "an f-string": (
            "cli/panels.py",
            "import rich\nconsole.print(f'{x}')",
            "3: print is given a str, not Text: f'{x}'",
        ),
        "a title": (
            "cli/panels.py",
            "from rich.panel import Panel\nPanel(body, title=safe(name))",
            "3: Panel is given a str, not Text: safe(name)",
        ),
        "safe words are strings still": (
            "cli/panels.py",
            "import rich\nline = 'a' + b\nconsole.print(line)",
            "4: print is given a str, not Text: line",
        ),
    },
}
PLANTED = {label: (of.__name__, *case) for of, cases in _PLANTED.items() for label, case in cases.items()}

# The legal code nearest to violations, in one tree.
ALLOWED: dict[str, str] = {
    "errors.py": "import sys",
    "engine/wording.py": "import re\nfrom pydantic import BaseModel",
    "engine/request.py": "from .wording import Prompt\nfrom ..errors import AgentsimError",
    "models/base.py": (
        "import time, os\nfrom agentsim.engine.wording import cleaned\nfrom agentsim.engine import wording"
    ),
    "games/__init__.py": "import importlib, pkgutil\nfrom importlib.metadata import entry_points",
    "games/chess/__init__.py": "from agentsim.games.chess.game import GAME",
    "games/chess/game.py": "from agentsim.engine.request import R\nfrom . import view\nstate.open('e4')\nGAME = 1",
    "games/chess/view.py": "import dataclasses\nfrom typing import Any",
    "players/model.py": "from agentsim.models.base import Model",
    "scenario/load.py": "from agentsim import games, __version__",
    "records/history.py": "from agentsim.scenario.load import load\nfrom agentsim.models.base import B",
    "report/page.py": "from agentsim.records.history import build_history",
    "runs/loop.py": "try:\n    x = 1\nexcept BaseException:\n    x = 2\n    raise",
    "cli/app.py": (
        "import rich, os\nfrom agentsim.runs.loop import play\nfrom agentsim.report.page import render\n"
        "__all__ = ['MODE', 'App', 'app', 'app2', 'app10']\nMODE = App = app = app2 = app10 = 1\n"
        "x = os.open('x', 0)\ny = open('x', 'rb')\nz = path.open(mode='rb')\nendpoint.open()\n"
        "p.read_text(encoding='utf-8')\nr.read_text('utf-8')\np.write_text('x', 'utf-8')\n"
        "w = 1  # type: ignore[misc] # mypy cannot see this\n"
        "v = 1  # noqa: S704 (escaped above)\nu = 1  # pragma: no cover - only on Windows\n"
    ),
    "testing/case.py": "import subprocess\nfrom agentsim.runs.loop import play",
    "cli/display.py": "print('x')",
    "cli/panels.py": (
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


# --------------------------------------------------------------------------- what pyproject.toml declares

# importer, its forbidden line, the imported module; a contract of import-linter finds each
IMPORTED: dict[str, tuple[str, str, str]] = {
    "report knows no runs": ("report/game_panels.py", "from agentsim.runs.run import Run", "runs.run"),
    "runs know no report": ("runs/turns.py", "from agentsim.report import page", "report.page"),
    "results know no runs": ("results.py", "from agentsim.runs import loop", "runs.loop"),
    "analysis knows no studies": ("analysis/ratings.py", "from agentsim.studies.plan import Plan", "studies.plan"),
    "runs know no studies": ("runs/turns.py", "from agentsim.studies import plan", "studies.plan"),
    "studies know no Python API": ("studies/plan.py", "from agentsim import api", "api"),
    "checks of games know no studies": ("testing/case.py", f"{TYPED}from agentsim.studies import plan", "studies.plan"),
    "analysis knows no command line": ("analysis/ratings.py", "def f():\n    import agentsim.cli.app", "cli.app"),
    "records know no runs, not even its types": (
        "records/files.py",
        f"{TYPED}from agentsim.runs.loop import play",
        "runs.loop",
    ),
    "scenario knows no report": ("scenario/load.py", "from agentsim.report.page import render", "report.page"),
    "players know no games": ("players/rows.py", "from agentsim import games", "games"),
    "players know no records": ("players/base.py", "from ..records.history import DecisionRecord", "records.history"),
    "records know no players": ("records/rows.py", "from agentsim.players.model import BotPlayer", "players.model"),
    "games know no players": ("games/chess/bots.py", "from agentsim.players.model import BotPlayer", "players.model"),
    "games know no models": ("games/chess/words.py", f"{TYPED}from agentsim.models.base import Model", "models.base"),
    "models know no players": ("models/keys.py", "from agentsim.players import model", "players.model"),
    "models know prompts and words, not requests": (
        "models/body.py",
        "from agentsim.engine import wording\nfrom agentsim.engine.request import Request",
        "engine.request",
    ),
    "models know no engine as a whole": ("models/own.py", "import agentsim.engine", "engine"),
    "engine knows no games": ("engine/play.py", "from ..games import find", "games"),
    "errors know nothing": ("errors.py", "from agentsim.engine.request import Request", "engine.request"),
    "a game knows no other": ("games/chess/clock.py", "from agentsim.games.go.state import Board", "games.go.state"),
    "a game knows no other, relatively": ("games/chess/book.py", "from ..go import state", "games.go.state"),
    "a game knows no registry": ("games/chess/rules.py", "from agentsim.games import find", "games"),
}
LAYERS = ("__main__", "api", "results", "server", "errors", "patterns")
EMPTY = (
    "analysis/__init__",
    "studies/__init__",
    "studies/plan",
    "runs/run",
    "games/go/__init__",
    "games/go/state",
    *LAYERS,
)


def contracts(root: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter with our contracts on the package `agentsim` in a folder."""
    command = ("from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache")
    words = (sys.executable, "-c", *command, "--config", str(ROOT / "pyproject.toml"))
    environment = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=False)


def tree(root: Path, files: dict[str, str]) -> Path:
    """Write a small package `agentsim` with these files and all layers."""
    every = {f"{name}.py": "" for name in EMPTY} | ALLOWED | files
    folders = {parent for name in every for parent in Path(name).parents}
    _planted(root / "agentsim", {f"{folder}/__init__.py": "" for folder in folders} | every)
    return root


def test_the_package_keeps_the_contracts() -> None:
    said = contracts(PACKAGE.parent)
    assert said.returncode == 0, said.stdout


def test_what_is_allowed_keeps_the_contracts(tmp_path: Path) -> None:
    said = contracts(tree(tmp_path, {}))
    assert said.returncode == 0, said.stdout + said.stderr


@some_of("planted", IMPORTED, *[*IMPORTED][::5])
def test_a_planted_import_breaks_a_contract(planted: tuple[str, str, str], tmp_path: Path) -> None:
    file, source, imported = planted
    said = contracts(tree(tmp_path, {file: source}))
    importer = file.removesuffix(".py").replace("/", ".")
    assert said.returncode == 1, said.stdout + said.stderr
    assert f"agentsim.{importer} -> agentsim.{imported} (l." in said.stdout.replace("\n", " ")


def test_a_new_folder_needs_a_place(tmp_path: Path) -> None:
    said = contracts(tree(tmp_path, {"plugins/core.py": ""}))
    assert (said.returncode, "agentsim.plugins" in said.stdout) == (1, True)


# file, source after its docstring, the rule of ruff that finds it
LINTED: dict[str, tuple[str, str, str]] = {
    "global chance": ("models/spacing.py", "def f():\n    from random import random\n    random()", "TID251"),
    "ignores everything": ("cli/app.py", "x = 1  # type: ignore # because of the weather", "PGH003"),
    "noqa of everything": ("cli/app.py", "x = 1  # noqa (because of the weather)", "PGH004"),
    "bare except": ("cli/saved_runs.py", "try:\n    x = 1\nexcept:\n    x = 2", "E722"),
    "swallowed": ("runs/loop.py", "try:\n    x = 1\nexcept (OSError, Exception):\n    x = 2", "BLE001"),
    "no docstring": ("cli/empty.py", "-", "D100"),
    "print": ("runs/loop.py", "print('x')", "T201"),
    "unsorted": ("cli/app.py", "__all__ = ['b', 'a']\na = b = 1", "RUF022"),
    "not there": ("cli/app.py", "__all__ = ['a', 'b']\na = 1", "F822"),
}


def lint(file: str, source: str) -> set[str]:
    """Return the rules of ruff, as this project selects them, that a module of the package would break."""
    words = ("ruff", "check", "--no-cache", "--output-format", "json", "--stdin-filename", str(PACKAGE / file), "-")
    text = "" if source == "-" else f"{DOC}{source}\n"
    done = subprocess.run(
        (sys.executable, "-m", *words), cwd=ROOT, input=text, capture_output=True, text=True, check=False
    )
    return {problem["code"] for problem in json.loads(done.stdout)}


@pytest.mark.parametrize(("file", "source", "code"), LINTED.values(), ids=LINTED)
def test_a_planted_violation_is_linted(file: str, source: str, code: str) -> None:
    assert code in lint(file, source)


@pytest.mark.parametrize("source", ["try:\n    x = 1\nexcept BaseException:\n    x = 2\n    raise", ""])
def test_the_nearest_allowed_thing_is_not(source: str) -> None:
    assert not lint("runs/loop.py", source)


def test_only_boundaries_catch_everything() -> None:
    source = "try:\n    x = 1\nexcept Exception:\n    x = 2"
    boundaries = ("cli/app.py", "models/llama.py", "runs/batch/executors.py")
    assert [lint(file, source) for file in boundaries] == [set(), set(), set()]
