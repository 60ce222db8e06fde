"""Reading of a scenario's files without trusting them: TOML, prompts, and files named in the game's table.

Games read no files. Their config marks fields that name files (`InFile`, `SeatsInFolder`), which are read here.
"""

from __future__ import annotations

import difflib
import os
import re
import stat
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from agentsim.engine.game import GameConfig, InFile, SeatsInFolder
from agentsim.engine.letters import without_joiners
from agentsim.engine.wording import cleaned
from agentsim.errors import ErrorCollector, ScenarioError
from agentsim.patterns import Pattern
from agentsim.scenario.toml_tables import PlayerTable
from agentsim.scenario.validation import ADVICE, KeyPath, dotted, one_line, secret_in

MAX_BYTES = 256 * 1024
MAX_KEY_PARTS = 16  # tomllib takes quadratic time in the parts of a dotted key
MAX_DEPTH = 64  # and recursion in brackets
SUFFIX = ".txt"

# Strings are one token, so that dots and brackets in them do not count. The pattern needs no backtracking.
_TOKEN = Pattern(
    r'''(?P<string>"""(?:[^\\"]|\\.?|"(?!""))*+(?:"""|\Z)|\'\'\'(?:[^']|'(?!''))*+(?:\'\'\'|\Z)'''
    r"""|"(?:[^"\\\n]|\\.?)*+"?|'[^'\n]*+'?)"""
    r"""|(?P<blank>[ \t]++)|(?P<dot>\.)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<end>[=,\n]|\#[^\n]*+)"""
    r"""|(?P<bare>[^\s"'#=\[\]{},.]++|.)""",
    re.DOTALL,
)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises `ScenarioError` with a line or byte if it is not valid TOML or too large or deep."""
    text = _text(path)
    if (kind := _of_a_run(text)) is not None:
        name = one_line(re.sub(r"\.jsonl?$", "", path.name))
        what = f"`agentsim resume {name}` goes on with the run, `agentsim logs {name}` writes its page"
        raise ScenarioError(f"is the {kind} of a run, not a scenario: {what}")
    try:
        _check_depth(text)
        return tomllib.loads(text)
    except RecursionError:
        raise ScenarioError("nested too deep to be read") from None
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"not TOML: {one_line(str(error))}{_line_and_guess(text, str(error))}") from None
    except ValueError as error:  # an integer of more digits than Python parses
        found = re.search(r"[0-9_]{1000,}", text)
        line = f"line {text.count(chr(10), 0, found.start()) + 1}: " if found else ""
        raise ScenarioError(f"{line}{one_line(str(error))}") from None


def _of_a_run(text: str) -> str | None:
    """Return `history` or `journal` if this is the beginning of one, or None."""
    found = re.match(r'\s*\{\s*"(?:format": *"agentsim-(history)|(record)": *")', text)
    return None if found is None else found[1] or "journal"


_LONGEST_LINE = 120
"""The most characters of a line that an error repeats."""
_BARE = Pattern(r"""\s*[\w.-]+\s*=\s*(?P<value>[A-Za-z_/.~][^"'\[{=#]*?)\s*(?:\#.*)?""")


def _line_and_guess(text: str, problem: str) -> str:
    """Return the line of a syntax error, and how it may be meant. A line that may hold a key is not repeated."""
    found = re.search(r"at line (\d+)", problem)
    lines = text.split("\n")
    if found is None:
        return "; a quote or a bracket is not closed" if "end of document" in problem and text.strip() else ""
    line = lines[int(found[1]) - 1].strip()
    if not line or secret_in(line):
        return ""
    if len(line) > _LONGEST_LINE:
        return f": {one_line(line[: _LONGEST_LINE - 1])}…"
    return f": {one_line(line)}{_guess(line, problem)}"


def _guess(line: str, problem: str) -> str:
    """Return how a line with a syntax error may be meant, or ""."""
    if (bare := _BARE.fullmatch(line)) is not None:
        value = bare["value"]
        start = f"; did you mean {line[: bare.start('value')]}"
        if value.lower() in {"true", "false"}:
            return f"{start}{value.lower()}?"
        return f'{start}"{value}"? (text stands in quotes)'
    table = line.startswith("[")
    guesses = (
        (
            "\\" in line and re.search(r"escape|hex|Unescaped", problem),
            "a backslash is written twice, or the text stands in single quotes",
        ),
        ('"' not in line and re.search("[“”‘’]", line), "quotes are straight in TOML"),
        (not table and "overwrite" in problem, "this key is set twice"),
        (line.startswith("[[") and "overwrite" in problem, f"an earlier table is {line[1:-1]}: write {line} each time"),
        (re.match(r"[\w.-]+\s*=.*\{\s*[\"'\w]+\s*:", line), "= stands between a key and its value in {...} too"),
        (re.fullmatch(r"[\w.-]+\s*=\s*[0-9]+,[0-9]+", line), "decimals have a point"),
        (re.fullmatch(r"[\w.-]+\s*=\s*[0-9.]+\s*[^\s0-9.,]+", line), "a number has no unit"),
        (line.startswith("{"), "this looks like JSON, and a scenario is TOML"),
        (line.count('"') % 2, "a quote is not closed"),
        (re.match(r"[\w.-]+\s*:", line), "= stands between a key and its value"),
        (table and line.count("[") != line.count("]"), "a bracket is not closed"),
        (table and "twice" in problem, f"did you mean [{line}]? (one table for each of several)"),
    )
    return next((f"; {guess}" for fits, guess in guesses if fits), "")


def read_prompt(path: Path, *, key: str = "") -> str:
    """Return the text of a prompt, or of a file named in a game's table, with "\\n" as line ends.

    Raises `ScenarioError` for a file that contains a NUL or a likely secret.
    """
    text = _text(path, key=key, name=one_line(path.name))
    if "\0" in text:
        at = len(text[: text.index("\0")].encode())
        raise ScenarioError(f"{one_line(path.name)} holds a NUL at byte {at}", key=key)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if secret_in(text):
        raise ScenarioError(f"the file holds what {ADVICE}", key=key)
    return text


def roots(config: Path, allow_dirs: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Return the directories that a scenario's paths must stay under: the parent of `configs/`, and those allowed.

    For a scenario outside of a `configs` directory, the first is the scenario's own directory.
    """
    folder = config.parent.resolve()
    holder = next((parent.parent for parent in (folder, *folder.parents) if parent.name == "configs"), folder)
    return (holder, *(allowed.resolve() for allowed in allow_dirs))


def located(name: str, config: Path, allowed: Sequence[Path], *, key: str = "", folder: bool = False) -> Path:
    """Return the regular file or folder that `name` leads to, relative to the scenario's file, with symlinks resolved.

    Raises `ScenarioError` if it does not exist or lies outside of `allowed`.
    """
    shown = one_line(name)
    if not shown and not folder:  # an empty folder name is the scenario's own folder
        raise ScenarioError(f"must name a file, found {name[:40]!r}", key=key)
    what = "folder" if folder else "file"
    try:
        path = (config.parent.resolve() / name).resolve()
        if not any(path.is_relative_to(root) for root in allowed):
            raise ScenarioError(
                f"{shown} leads out of {one_line(str(allowed[0]))}",
                key=key,
                valid=f"a {what} below it, or --allow-dir DIR",
            )
        if path.is_dir() if folder else path.is_file():
            return path
        there = path.exists()
    except (OSError, ValueError, RuntimeError):  # a NUL, a name too long, a loop of links
        raise ScenarioError(f"not a usable path: {shown}", key=key) from None
    if there:
        raise ScenarioError(f"not a {'' if folder else 'regular '}{what}: {shown}", key=key)
    raise ScenarioError(f"no such {what}: {shown} (looked at {one_line(str(path))})", key=key)


def _text(path: Path, *, key: str = "", name: str = "") -> str:
    """Return a file decoded as UTF-8, without a byte order mark. `name` is added to errors whose key names no file."""
    content = _content(path, key=key)
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"not UTF-8 at byte {error.start} (line {line})"
        raise ScenarioError(f"{name} is {problem}" if name else problem, key=key) from None


def _beside(path: Path) -> str:
    """Return a hint at the most similar file name in a misspelled scenario's folder or `configs` there, or ""."""
    for folder in (path.parent, path.parent / "configs"):
        known = {file.stem: file for file in sorted(folder.glob("*.toml"))}
        if found := difflib.get_close_matches(path.stem[:100], known, n=1, cutoff=0.8):
            return f" (did you mean {one_line(str(known[found[0]]))}?)"
    return ""


def _within(folder: Path) -> str:
    """Return a hint at the first scenario in a folder, or ""."""
    found = next(iter(sorted(folder.glob("*.toml"))), None)
    return "" if found is None else f"; name one in it, as {one_line(str(found))}"


def _content(path: Path, *, key: str = "") -> bytes:
    """Return the bytes of a regular file of at most 256 KiB.

    The file is opened without blocking, and checked once open.
    """
    name = one_line(path.name)
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
                problem = f"is a folder{'' if key else _within(path)}" if folder else "is no regular file"
                raise ScenarioError(f"{problem}: {name}" if key else problem, key=key)
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read(MAX_BYTES + 1)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise ScenarioError(f"no such file: {name}" if key else f"no such file{_beside(path)}", key=key) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a usable path"
        raise ScenarioError(f"cannot be read: {reason}", key=key) from None
    if len(content) > MAX_BYTES:
        raise ScenarioError(f"{name} is larger than {MAX_BYTES // 1024} KiB", key=key)
    return content


def _check_depth(text: str) -> None:
    """Raise `TOMLDecodeError` for dotted keys or brackets nested too deep for the parser."""
    dots = depth = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "dot":
            dots += 1
        elif kind not in ("string", "blank", "bare"):
            dots = 0
            depth += (kind == "open") - (kind == "close")
        if dots >= MAX_KEY_PARTS or depth > MAX_DEPTH:
            line = text.count("\n", 0, token.start()) + 1
            problem = f"a key of more than {MAX_KEY_PARTS} parts" if dots >= MAX_KEY_PARTS else "nested too deep"
            raise tomllib.TOMLDecodeError(f"{problem} (at line {line})")


@dataclass(frozen=True, slots=True)
class Material:
    """A game's table with the contents of its files, and the players from its folder with their keys."""

    game_config: dict[str, JsonValue]
    players: tuple[tuple[PlayerTable, KeyPath], ...] = ()


def gathered(
    values: Mapping[str, JsonValue], config: type[GameConfig], path: Path, allowed: Sequence[Path]
) -> Material:
    """Read the files that `values`, the `[game_config]` of the scenario at `path`, names. Raises `ScenarioError`."""
    out = dict(values)
    errors = ErrorCollector()
    for name, mark in config.marked(InFile).items():
        with errors.noted():
            value, key = out.get(name), dotted(("game_config", name))
            if isinstance(value, str) and value not in mark.words:
                if not value.lower().endswith(mark.suffix):
                    raise ScenarioError(f"must be {mark.valid}, found {value[:80]!r}", key=key)
                out[name] = mark.content(stem(value), read_prompt(located(value, path, allowed, key=key), key=key))
            elif mark.parts(value) is not None:  # a scenario must name the file, not contain its content
                raise ScenarioError("unknown key name", key=key, valid=mark.valid)
    players: list[tuple[PlayerTable, KeyPath]] = []
    for name in config.marked(SeatsInFolder):
        if isinstance(folder := out.get(name), str):
            del out[name]
            with errors.noted():
                players += _prompts(folder, path, allowed, ("game_config", name))
    errors.raised()
    return Material(out, tuple(players))


def stem(name: str) -> str:
    """Return a file's name for display, without folder and suffix: cleaned, without joiners, on one line."""
    return " ".join(without_joiners(cleaned(Path(name).stem)).split())


def _prompts(name: str, path: Path, allowed: Sequence[Path], key: KeyPath) -> list[tuple[PlayerTable, KeyPath]]:
    """Return a player for every prompt in the folder, sorted by name, without hidden files."""
    at = dotted(key)
    folder = located(name, path, allowed, key=at, folder=True)
    try:
        entries = sorted(entry.name for entry in folder.iterdir() if entry.suffix.lower() == SUFFIX)
    except OSError as error:
        raise ScenarioError(f"cannot be read: {error.strerror}", key=at) from None
    found = [(PlayerTable(prompt_file=str(Path(name, file))), (*key, file)) for file in entries if file[0] != "."]
    if not found:
        raise ScenarioError(f"there is no {SUFFIX} file in {name[:80]!r}", key=at)
    return found
