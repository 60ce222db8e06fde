"""The guides in `docs/`: the names that they use exist, and their examples run."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shutil
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.amounts import each_row
from tests.cli.command_line import ROOT, agentsim
from tests.fakes.server import FakeServer
from tests.test_docs import PAGES, blocks, commands

DOCS = ROOT / "docs"
PROMISES = (DOCS / "promises.md").read_text(encoding="utf-8")
NAMED_TESTS = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PROMISES)


def found(name: str) -> bool:
    """Return whether a dotted name is a module or an attribute path in one."""
    parts = name.split(".")
    for depth in range(len(parts), 0, -1):
        try:
            here: object = importlib.import_module(".".join(parts[:depth]))
        except ModuleNotFoundError:
            continue
        for part in parts[depth:]:
            here = getattr(here, part, None)
        return here is not None
    return False


@each_row("page", PAGES)
def test_what_a_page_names_of_the_package_is_there(page: Path) -> None:
    named = re.findall(r"`(agentsim(?:\.[A-Za-z_]\w*)+)`", page.read_text(encoding="utf-8"))
    own = {name for name in named if not re.search(r"\.(json|toml|games)$", name)}
    assert [name for name in sorted(own) if not found(name)] == []


def test_a_name_that_is_not_there_is_noticed() -> None:
    assert found("agentsim.runs.game_in_progress.journaled_wave")
    assert not found("agentsim.runs.game_in_progress.recorded_wav")
    assert not found("agentsim.runer.drive")


@cache
def names_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize(("file", "name"), NAMED_TESTS, ids=[name for _, name in NAMED_TESTS])
def test_a_promise_names_a_test_that_there_is(file: str, name: str) -> None:
    assert (ROOT / file).is_file()
    assert name in names_in(file)


def test_every_promise_names_a_test() -> None:
    rows = [line for line in PROMISES.splitlines() if line.startswith("| **")]
    assert len(rows) > 12
    assert [row for row in rows if "::" not in row] == []
    assert len(NAMED_TESTS) == PROMISES.count("::"), "one is not written as a test"


def test_what_reproducibility_shows_is_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("configs", "prompts", "items"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    page = (DOCS / "reproducibility.md").read_text(encoding="utf-8")
    lines = commands(page)
    assert [line[0] for line in lines] == ["run", "run", "replay"]
    for line in lines:
        said = agentsim(*line, cwd=tmp_path)
        assert (said.code, "agentsim: " in said.err) == (0, False), f"{line}: {said.err}"
    monkeypatch.chdir(tmp_path)
    (snippet,) = blocks(page, "python")
    exec(compile(snippet, "reproducibility.md", "exec"), {})
    history = json.loads(Path("logs", "two.json").read_text(encoding="utf-8"))
    history["decisions"][0]["index"] = 99
    Path("logs", "two.json").write_text(json.dumps(history), encoding="utf-8")
    with pytest.raises(AssertionError):
        exec(compile(snippet, "reproducibility.md", "exec"), {})


PROVIDER = (DOCS / "adding_a_provider.md").read_text(encoding="utf-8")
SNIPPETS = list(blocks(PROVIDER, "python"))


@pytest.mark.parametrize("snippet", SNIPPETS, ids=["a profile", "a client"])
def test_the_code_of_adding_a_provider_runs(snippet: str) -> None:
    exec(compile(snippet, "adding_a_provider.md", "exec"), {})


def test_the_table_of_adding_a_provider_plays(tmp_path: Path) -> None:
    (table,) = blocks(PROVIDER, "toml")
    address = tomllib.loads(table)["providers"]["lab"]["base_url"]
    env = {"LAB_KEY": "sk-of-the-lab-0123456789"}
    with FakeServer().in_thread() as server:
        (tmp_path / "lab.toml").write_text(table.replace(address, server.url()), encoding="utf-8")
        for line in (["validate", "--config", "lab.toml"], ["run", "--config", "lab.toml"]):
            said = agentsim(*line, cwd=tmp_path, env=env)
            assert (said.code, "agentsim: " in said.err) == (0, False), said.err
    assert {request.headers["authorization"] for request in server.received} == {f"Bearer {env['LAB_KEY']}"}
    assert {request.body["model"] for request in server.received} == {"llama-3.3-70b"}


STUDIES = (DOCS / "studies.md").read_text(encoding="utf-8")


def part_of(page: str, heading: str) -> str:
    """Return a section of a page with its subsections."""
    return re.split(r"^## ", page.partition(f"## {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


@pytest.fixture
def design_page(tmp_path: Path) -> str:
    """Return the page, whose table is the shipped design, and copy the shipped files for its commands."""
    for folder in ("configs", "prompts", "items"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    page = part_of(STUDIES, "Designs")
    (table,) = blocks(page, "toml")
    shipped = tomllib.loads((ROOT / "configs" / "designs" / "temperature.toml").read_text(encoding="utf-8"))
    assert tomllib.loads(table) == shipped
    return page


def test_the_mistake_that_the_page_shows_is_refused_so(tmp_path: Path, design_page: str) -> None:
    (table,) = blocks(design_page, "toml")
    (tmp_path / "design.toml").write_text(table.replace("1.2]", "9]").replace("../", "configs/"), encoding="utf-8")
    refused = agentsim("validate", "--config", "design.toml", cwd=tmp_path)
    assert (refused.code, refused.err.strip() in design_page) == (2, True), refused.err


@pytest.mark.slow
@pytest.mark.usefixtures("without_workers")
def test_what_the_page_shows_of_a_design_is_so(
    tmp_path: Path, design_page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, said = design_page, []
    for line in (line for line in commands(page) if line[0] != "validate"):
        few = ["8" if word == "400" else word for word in line]
        said.append(agentsim(*few, cwd=tmp_path))
        assert said[-1].code == 0, f"{line}: {said[-1].err}"
    played, report, tables, needed, _ = (each.out for each in said)
    (shown,) = [block for block in blocks(page, "console") if "bidder: 48" in block]
    assert all(line in shown for line in played.splitlines())
    (figures,) = blocks(page, "text")
    assert figures in report
    assert "power (12 blocks planned)" in needed
    assert {path.name for path in (tmp_path / "logs" / "tables").iterdir()} == {
        Path(line).name for line in tables.splitlines()
    }
    assert (tmp_path / "logs" / "effects.svg").is_file()
    (count,) = [line for line in figures.splitlines() if "  required components  " in line]
    mean, high, low = (f"{abs(float(figure)):.2f}" for figure in re.findall(r"[+-]\d+\.\d+", count)[:3])
    assert f"{mean} items fewer ({low} to {high})" in page
    monkeypatch.chdir(tmp_path)
    (snippet,) = blocks(page, "python")
    exec(compile(snippet, "studies.md", "exec"), {})
