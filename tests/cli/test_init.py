"""`agentsim init`: a folder in which every config runs, from a checkout and a wheel; it never overwrites files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from agentsim.models.profiles import BUILT_IN
from tests.cli.command_line import ROOT, Said, agentsim, built_wheel, snapshot
from tests.cli.test_configs import CONFIGS, FAKE_KEYS, on_bots, words
from tests.test_docs import commands

SHIPPED = [*(ROOT / "configs").rglob("*.*"), *(ROOT / "items").iterdir(), *(ROOT / "prompts").rglob("*.txt")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    assert agentsim("init", "lab", cwd=folder).code == 0
    return folder / "lab"


def test_it_holds_what_is_shipped_and_no_more(lab: Path) -> None:
    shipped = {path.relative_to(ROOT).as_posix() for path in SHIPPED} | {"logs/logs.css"}
    made = {path.relative_to(lab).as_posix() for path in lab.rglob("*") if path.is_file()}
    assert made == shipped | {"README.md", ".env.example", ".gitignore"}
    for name in shipped:
        assert (lab / name).read_bytes() == (ROOT / name).read_bytes()


def test_the_commands_of_its_readme_run(tmp_path: Path) -> None:
    agentsim("init", "lab", cwd=tmp_path)
    lines = commands((tmp_path / "lab" / "README.md").read_text(encoding="utf-8"))
    assert len(lines) > 3
    for line in lines:
        said = agentsim(*line, cwd=tmp_path / "lab", env=FAKE_KEYS)
        assert (said.code, "agentsim: " in said.err) == (0, False), f"{line}: {said.err}"


def test_the_example_of_an_env_file_names_every_key_and_holds_none(lab: Path) -> None:
    lines = (lab / ".env.example").read_text(encoding="utf-8").splitlines()
    given = dict(line.split("=") for line in lines if not line.startswith("#"))
    assert given == {name: "" for profile in BUILT_IN.values() for name in profile.key_envs}
    assert ".env" in (lab / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_a_second_time_changes_nothing_and_puts_back_what_is_gone(tmp_path: Path) -> None:
    agentsim("init", "lab", cwd=tmp_path)
    before = snapshot(tmp_path)
    said = agentsim("init", "lab", cwd=tmp_path)
    count = len([path for path in (tmp_path / "lab").rglob("*") if path.is_file()])
    assert (said.code, said.out) == (0, f"lab: all {count} files exist already\n")
    assert snapshot(tmp_path) == before
    (tmp_path / "lab" / "configs" / "auction.toml").unlink()
    said = agentsim("init", ".", cwd=tmp_path / "lab")
    assert said.out.startswith(f"wrote 1 file to ., {count - 1} existed already")
    assert snapshot(tmp_path) == before


def _readme(lab: Path) -> None:
    (lab / "README.md").write_text("mine", encoding="utf-8")


def _link(lab: Path) -> None:
    (lab / "README.md").symlink_to("nowhere")


def _folder(lab: Path) -> None:
    (lab / ".env.example").mkdir()


def _file(lab: Path) -> None:
    (lab / "prompts").write_text("mine", encoding="utf-8")


def _in_the_way(lab: Path) -> None:
    lab.rmdir()
    lab.write_text("mine", encoding="utf-8")


DIFFERENT = ": exists and differs; nothing was written (valid: an empty or a new directory)"
TAKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "a file of that name": (_readme, f"lab: README.md{DIFFERENT}"),
    "a link that leads nowhere": (_link, f"lab: README.md{DIFFERENT}"),
    "a folder of that name": (_folder, f"lab: .env.example{DIFFERENT}"),
    "a file for a folder": (_file, "lab/prompts: exists and is not a directory; nothing was written"),
    "a file for the whole": (_in_the_way, "lab: exists and is not a directory; nothing was written"),
}


@pytest.mark.parametrize(("prepare", "line"), TAKEN.values(), ids=TAKEN)
def test_what_is_there_stays(prepare: Callable[[Path], None], line: str, tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    prepare(tmp_path / "lab")
    before = snapshot(tmp_path)
    said = agentsim("init", "lab", cwd=tmp_path)
    assert (said.code, said.out, said.line) == (2, "", line)
    assert snapshot(tmp_path) == before


def test_a_file_that_appears_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that appears between the check and the copy is not overwritten."""

    def missing(directory: Path, files: dict[str, bytes]) -> list[str]:
        directory.mkdir()
        _readme(directory)
        return list(files)

    monkeypatch.setattr("agentsim.cli.scaffold._missing", missing)
    said = agentsim("init", "lab", cwd=tmp_path)
    assert (said.code, said.line) == (1, "lab/README.md: cannot be made: File exists")
    assert (tmp_path / "lab" / "README.md").read_text(encoding="utf-8") == "mine"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel in a fresh environment that borrows the required libraries, and return its command."""
    folder = tmp_path_factory.mktemp("installed")
    wheel = built_wheel(folder)
    uv = os.environ.get("UV") or shutil.which("uv")  # `uv run` sets UV
    venv.create(folder / "venv", with_pip=uv is None)  # with pip it takes longer than all other steps
    bin_ = folder / "venv" / "bin"
    python = str(bin_ / "python")
    tool = [python, "-m", "pip", "install"] if uv is None else [uv, "pip", "install", "--no-cache", "--python", python]
    _do(*tool, "--quiet", "--no-deps", "--no-index", str(wheel), cwd=folder)
    site = _do(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    Path(site.out.strip(), "borrowed.pth").write_text("\n".join(sorted(borrowed)), encoding="utf-8")
    return bin_ / "agentsim"


def _do(*words: str, cwd: Path) -> Said:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
def test_an_installed_wheel_makes_the_same_folder_and_plays_there(installed: Path, lab: Path, tmp_path: Path) -> None:
    python = str(installed.parent / "python")
    where = _do(python, "-c", "import agentsim; print(agentsim.__file__)", cwd=tmp_path).out
    assert not Path(where.strip()).is_relative_to(ROOT), "this is the checkout, not the wheel"
    _do(str(installed), "init", "lab", cwd=tmp_path)
    assert snapshot(tmp_path / "lab") == snapshot(lab)
    config = next(path for path in CONFIGS if on_bots(path))
    said = _do(str(installed), "run", *words(config), "--json", "--display", "none", cwd=tmp_path / "lab")
    line = json.loads(said.out)
    assert line["status"] == "completed"
    page = (tmp_path / "lab" / line["html"]).read_text(encoding="utf-8")
    assert "<style" in page, "templates and style sheet are in the wheel"
