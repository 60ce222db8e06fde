"""`agentsim gen-items`: auction scenarios as files. What a kind of list holds is the auction's `drawing`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from agentsim.cli.options import given_path

__all__ = ["Kind", "gen_items"]

_BOTS = ("truthful", "sniper", "hoarder", "random")
_SCHEMA = "agentsim.schema.json"


class Kind(StrEnum):
    """The auction's kinds of lists, spelled again here since asking the game would load it for every `--help`."""

    standard = "standard"
    scarcity = "scarcity"
    abundance = "abundance"
    high_quality = "high_quality"
    trap = "trap"
    random = "random"
    all = "all"


def gen_items(
    *,
    kind: Annotated[
        Kind,
        typer.Option(
            "--kind",
            help="Which list; `all` is every one but `random`.",
            metavar="standard|scarcity|abundance|high_quality|trap|random|all",
        ),
    ] = Kind.all,
    seed: Annotated[
        int, typer.Option("--seed", help="What to draw from; the same seed, the same files.", min=0, max=2**63 - 1,
                          metavar="N")
    ] = 1,
    extra: Annotated[
        int | None,
        typer.Option("--extra", help="How many items besides the ten a random list has (5).", min=0, max=490,
                     metavar="X"),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Where the items files go.", metavar="DIR",
                                       parser=given_path)] = Path("items"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that differ.")] = False,
    configs: Annotated[
        Path | None,
        typer.Option("--configs", help="Write a scenario of four bots for each list, too, into DIR.", metavar="DIR",
                     parser=given_path),
    ] = None,
) -> None:  # fmt: skip
    """Write lists of items for the auction.

    A file that is there and would not change stays; for one that would, nothing is written without --overwrite.
    """
    from agentsim.cli.folder import check_folder
    from agentsim.cli.terminal_output import note, safe
    from agentsim.errors import UsageError
    from agentsim.games.auction.drawing import KINDS, draw
    from agentsim.games.auction.items import written
    from agentsim.history.files import write_whole

    if extra is not None and kind is not Kind.random:
        raise UsageError(f"--extra {extra} is for --kind random; the other lists have a size of their own")
    kinds = [name for name in KINDS if name != "random"] if kind is Kind.all else [kind.value]
    texts: dict[Path, str] = {}
    for name in kinds:
        stem = f"random-{seed}" if name == "random" else name
        items = out / f"{stem}.json"
        texts[items] = written(draw(name, seed) if extra is None else draw(name, seed, extra))
        if configs is not None:
            texts[configs / f"auction_{stem}.toml"] = _scenario(items, stem, seed, configs)
    same = _unchanged(texts, overwrite=overwrite)
    directories = list(dict.fromkeys(path.parent for path in texts))
    for directory in directories:
        check_folder(directory)  # all of them before the first is made
    for directory in directories:
        directory.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        if path not in same:
            write_whole(path, text)
        typer.echo(safe(f"{'unchanged' if path in same else 'wrote'} {path.as_posix()}"))
    if configs is not None and (root := _out_of_reach(out, configs)) is not None:
        note(
            safe(
                f"agentsim: the items are outside {root}: run these scenarios with --allow-dir {shlex.quote(str(out))}"
            )
        )


def _scenario(items: Path, stem: str, seed: int, configs: Path) -> str:
    """A scenario that plays the list with one bot of each policy; the list's path is relative to it."""
    import os

    import tomli_w

    way = Path(os.path.relpath(items.parent.resolve(), configs.resolve())) / items.name
    head = {"game": "auction", "name": f"auction-{stem}", "seed": seed, "game_config": {"items": way.as_posix()}}
    # Table by table, since tomli-w puts small ones into brackets on a line, where people look for [[players]].
    players = [f"\n[[players]]\n{tomli_w.dumps({'id': bot, 'model': f'bot/{bot}'})}" for bot in _BOTS]
    schema = f"#:schema ./{_SCHEMA}\n" if (configs / _SCHEMA).is_file() else ""
    return schema + tomli_w.dumps(head) + "".join(players)


def _out_of_reach(out: Path, configs: Path) -> Path | None:
    """The directory that scenarios in `configs` may read from, where that does not hold `out`."""
    from agentsim.scenario.files import roots

    root = roots(configs / "any.toml")[0]
    return None if out.resolve().is_relative_to(root) else root


def _unchanged(texts: dict[Path, str], *, overwrite: bool) -> set[Path]:
    """The files that are there as they would be written; `UsageError` names those that may not be replaced."""
    from agentsim.errors import UsageError

    same = {path for path, text in texts.items() if path.is_file() and _content(path) == text.encode()}
    there = [path for path in texts if path not in same and (path.exists() or path.is_symlink())]
    if odd := [path for path in there if path.is_symlink() or not path.is_file()]:
        raise UsageError(f"{_named(odd)}: there and not a regular file; nothing was written")
    if there and not overwrite:
        raise UsageError(f"{_named(there)}: there and different; nothing was written (--overwrite replaces)")
    return same


def _content(path: Path) -> bytes:
    from agentsim.errors import UsageError

    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None


def _named(paths: Iterable[Path]) -> str:
    return ", ".join(path.as_posix() for path in paths)
