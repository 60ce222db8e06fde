"""Files that are hostile, strange or somewhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentsim.errors import ScenarioError
from agentsim.scenario import load
from agentsim.scenario.source_files import read_toml
from tests.scenario.parlour import SEATS, refused, written

DEEP = "not TOML: nested too deep (at line 1)"
PARTS = "not TOML: a key of more than 16 parts (at line 1)"
DIGITS = "line 2: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits; use"

BOMBS = {
    "lists": ("x = " + "[" * 2000, DEEP),
    "tables": ("x = " + "{a=" * 2000, DEEP),
    "lists by line": ("x = [\n" + "[\n" * 3000, "not TOML: nested too deep (at line 65)"),
    "dotted key": (".".join("a" * 20_000) + " = 1", PARTS),
    "dotted header": ("[" + ".".join("a" * 17) + "]", PARTS),
    "dotted and quoted": (' . "x" . '.join("a" * 17) + " = 1", PARTS),
    "digits": ("\nseed = " + "9" * 5000, DIGITS),
    "size": ("#" * (256 * 1024 + 1), "x.toml is larger than 256 KiB"),
    "open string": ('x = """' + '\\"""' * 60_000, "not TOML: Unterminated string (at end of document)"),
    "bare carriage return": ("a=1\rb=2", "not TOML: Expected newline or end of document after a statement"),
    "nul": ("a='\0'", "not TOML: Found invalid character '\\x00' (at line 1, column 4)"),
    "hexadecimal": ("seed = 0x" + "f" * 200_000, "seed: must be a number of at most 64 bits"),
}


@pytest.mark.parametrize("case", BOMBS)
@pytest.mark.timeout(10)
def test_a_bomb_is_an_error_with_a_place(case: str, tmp_path: Path) -> None:
    text, line = BOMBS[case]
    path = written(tmp_path, text)
    said = refused(path)
    assert said.startswith(line)
    assert len(said) < 250


def test_dots_and_brackets_in_strings_and_comments_do_not_count(tmp_path: Path) -> None:
    dots, brackets = ".".join("a" * 40), "[{" * 100
    text = f"# {dots} {brackets}\n{SEATS}prompt = '''\n{dots} \\ {brackets}\n'''\n[game_config] # {dots}\n"
    assert load(written(tmp_path, text)).players[1].prompt == f"{dots} \\ {brackets}\n"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"a = 1\nname = '\xe9'", "not UTF-8 at byte 14 (line 2)"),
        ("a = 1".encode("utf-16"), "not UTF-8 at byte 0 (line 1)"),
        (b"\xef\xbb\xbf\xef\xbb\xbfa = 1", "not TOML: Invalid statement (at line 1, column 1): a = 1"),
    ],
    ids=["latin-1", "utf-16", "two marks"],
)
def test_what_is_not_utf8_is_an_error_with_a_byte(content: bytes, line: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    assert refused(path) == line


def test_byte_order_mark_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    text = SEATS + 'prompt = """one\ntwo"""\n'
    plain = load(written(tmp_path, text))
    windows = load(written(tmp_path, "\ufeff" + text.replace("\n", "\r\n"), "windows.toml"))
    assert windows.game_settings() == plain.game_settings()


def test_a_prompt_file_is_text_with_newlines(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_bytes("\ufeffżółw\r\n${player}: $$5 or $5\r".encode())
    path = written(tmp_path, SEATS + 'prompt_file = "../p.txt"\n')
    assert load(path).players[1].prompt == "żółw\nB: $5 or $5\n"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\xff", "p.txt is not UTF-8 at byte 0 (line 1)"),
        ("żó\0".encode(), "p.txt holds a NUL at byte 4"),
        (b"x" * (256 * 1024 + 1), "p.txt is larger than 256 KiB"),
        (
            b"key: sk-proj-0123456789abcdef",
            "the file holds what looks like a key or password; keys come from the environment",
        ),
    ],
    ids=["latin-1", "nul", "size", "secret"],
)
def test_a_prompt_file_that_cannot_be_used(content: bytes, line: str, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_bytes(content)
    path = written(tmp_path, SEATS + 'prompt_file = "../p.txt"\n')
    assert refused(path) == f"players.1.prompt_file: {line}"


@pytest.mark.skipif(sys.platform == "win32", reason="devices and FIFOs are files on POSIX alone")
@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "config fifo", "config device", "config folder"])
@pytest.mark.timeout(10)
def test_only_regular_files_are_read(kind: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    name = {"fifo": str(tmp_path / "fifo"), "device": "/dev/zero", "folder": str(tmp_path)}[
        kind.removeprefix("config ")
    ]
    if kind.startswith("config"):
        path, said = Path(name), "is a folder" if kind.endswith("folder") else "is no regular file"
    else:
        path, said = (
            written(tmp_path, SEATS + f'prompt_file = "{name}"\n'),
            "players.1.prompt_file: not a regular file: ",
        )
    assert refused(path, allow_dirs=[Path("/dev")]).startswith(said)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside" / "secret.txt"
    path.parent.mkdir()
    path.write_text("outside")
    return path


@pytest.mark.parametrize("how", ["relative", "absolute", "link", "linked folder"])
def test_a_path_that_leads_out_needs_allow_dir(how: str, tmp_path: Path, outside: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "link.txt").symlink_to(outside)
    (project / "folder").symlink_to(outside.parent)
    name = {
        "relative": "../../outside/secret.txt",
        "absolute": str(outside),
        "link": "../link.txt",
        "linked folder": "../folder/secret.txt",
    }[how]
    path = written(project, SEATS + f'prompt_file = "{name}"\n')
    where = f"{name} leads out of {project} (valid: a file below it, or --allow-dir DIR)"
    assert refused(path) == f"players.1.prompt_file: {where}"
    scenario = load(path, allow_dirs=[outside.parent])
    assert scenario.players[1].prompt == "outside"
    assert scenario.allow_dirs == (outside.parent,)


def test_what_is_outside_is_not_even_looked_for(tmp_path: Path) -> None:
    path = written(tmp_path, SEATS + 'prompt_file = "../../nothing-here"\n')
    with pytest.raises(ScenarioError, match="leads out of"):
        load(path)


def test_without_a_configs_folder_the_files_own_is_the_limit(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "p.txt").write_text("inside")
    (tmp_path / "p.txt").write_text("outside")
    path = folder / "x.toml"
    path.write_text(SEATS + 'prompt_file = "p.txt"\n')
    assert load(path).players[1].prompt == "inside"
    path.write_text(SEATS + 'prompt_file = "../p.txt"\n')
    with pytest.raises(ScenarioError, match="leads out of"):
        load(path)


def test_below_configs_the_folder_that_holds_it_is_the_limit(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("inside")
    deep = tmp_path / "configs" / "study"
    deep.mkdir(parents=True)
    path = deep / "x.toml"
    path.write_text(SEATS + 'prompt_file = "../../p.txt"\n')
    assert load(path).players[1].prompt == "inside"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert refused(tmp_path / "no\n.toml") == "no such file"


def test_the_system_encoding_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("żółw", encoding="utf-8")
    path = written(tmp_path, SEATS + 'prompt_file = "../p.txt"\n')
    code = (
        "import sys; from pathlib import Path; from agentsim.scenario import load;"
        "from agentsim import games; from tests.scenario.parlour import Parlour;"
        "games.find = lambda name: Parlour();"
        "print(ascii(load(Path(sys.argv[1])).players[1].prompt))"
    )
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-W", "error::EncodingWarning:agentsim", "-c", code, str(path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == (ascii("żółw"), "")


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("game = agent_island", 'game = agent_island; did you mean game = "agent_island"? (text stands in quotes)'),
        ('game: "agent_island"', 'game: "agent_island"; = stands between a key and its value'),
        ('game = "agent_island', 'game = "agent_island; a quote is not closed'),
        ("name = True", "name = True; did you mean name = true?"),
        ("game = \u201cauction\u201d", "game = \u201cauction\u201d; quotes are straight in TOML"),
        ("once = 1\nonce = 2", "once = 2; this key is set twice"),
        ('{"game": "auction"}', '{"game": "auction"}; this looks like JSON, and a scenario is TOML'),
        ("[players", "[players; a bracket is not closed"),
        ('[players]\nid = "a"\n[players]', "[players]; did you mean [[players]]? (one table for each of several)"),
        (
            'file = "C:\\users\\x"',
            'file = "C:\\users\\x"; a backslash is written twice, or the text stands in single quotes',
        ),
        ("key = sk-abcdefghijklmnopqrstuvwxyz0123456789", None),
    ],
)
def test_the_line_of_a_syntax_error_is_shown_with_a_guess_and_never_a_key(
    line: str, shown: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "x.toml"
    path.write_text(f"seed = 1\n{line}\n", encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        read_toml(path)
    told = str(caught.value)
    if shown is None:
        assert "sk-" not in told
    else:
        assert told.endswith(f"): {shown}")


@pytest.mark.parametrize("kind", ["history", "journal"])
def test_the_file_of_a_run_is_named_as_such_with_what_can_be_done_with_it(kind: str, tmp_path: Path) -> None:
    path = tmp_path / {"history": "first.json", "journal": "first.jsonl"}[kind]
    head = {"history": '{"format": "agentsim-history/3"', "journal": '{"record": "run"'}[kind]
    path.write_text(f"{head}, ...", encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        read_toml(path)
    what = "`agentsim resume first` goes on with the run, `agentsim logs first` writes its page"
    assert str(caught.value) == f"is the {kind} of a run, not a scenario: {what}"
