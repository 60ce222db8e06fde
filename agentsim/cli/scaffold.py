"""`agentsim init` and `gen-items`: write starter files, without replacing existing ones unasked."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from agentsim.cli import shared_options as o
from agentsim.cli.terminal_output import remark, safe
from agentsim.engine.wording import counted
from agentsim.errors import AgentsimError, UsageError

_FOLDERS = ("configs", "prompts", "items")
_STYLE = "logs/logs.css"
# Dotfiles are renamed here: in the repository they would be overlooked, or take effect.
_RENAMED = {"env.example": ".env.example", "gitignore": ".gitignore", "README.md": "README.md"}


def init(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder; made where there is none.", parser=o.given_path)
    ],
) -> None:
    """Make a folder with configs, prompts and items to run.

    Nothing is ever replaced: where a file is there and differs, nothing at all is written.
    """
    files = _shipped()
    new = _missing(directory, files)
    for name in new:
        _write(directory / name, files[name])
    if not new:
        typer.echo(safe(f"{directory.as_posix()}: all {counted(len(files), 'file exists', 'files exist')} already"))
        return
    there = f", {len(files) - len(new)} existed already" if len(new) < len(files) else ""
    typer.echo(
        safe(
            f"wrote {counted(len(new), 'file')} to {directory.as_posix()}{there}; its README.md says what to run first"
        )
    )


def _write(path: Path, content: bytes) -> None:
    """Write a new file. Raises `AgentsimError` if it exists by now or cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("xb")
    except OSError as error:
        raise AgentsimError(f"{path}: cannot be made: {error.strerror or error}") from None
    try:
        with file:
            file.write(content)
    except OSError as error:
        from agentsim.records.disk import write_problem  # slow to import, and not needed for `--help`

        path.unlink(missing_ok=True)
        raise AgentsimError(f"{path}: cannot be written: {write_problem(error, path, len(content))}") from None


def _shipped() -> dict[str, bytes]:
    """Return the starter files by relative path, from the wheel or from this checkout."""
    beside = Path(__file__).parent / "starter"
    top = beside if (beside / "configs").is_dir() else Path(__file__).parents[2]
    found = [path for name in _FOLDERS for path in sorted((top / name).rglob("*")) if path.is_file()]
    files = {path.relative_to(top).as_posix(): path.read_bytes() for path in (*found, top / _STYLE)}
    return files | {name: (beside / shipped).read_bytes() for shipped, name in _RENAMED.items()}


def _missing(directory: Path, files: Mapping[str, bytes]) -> list[str]:
    """Return the files that do not exist yet. Raises `UsageError` if one exists and differs, or cannot be written."""
    for folder in sorted({parent for name in files for parent in Path(name).parents}):
        _check_folder(directory / folder)
    there = [name for name in files if os.path.lexists(directory / name)]
    paths = {name: directory / name for name in there}
    different = [name for name, path in paths.items() if path.is_symlink() or not _holds(path, files[name])]
    if different:
        few = ", ".join(different[:3]) + (", ..." if len(different) > 3 else "")
        raise UsageError(
            f"{directory}: {few}: exists and differs; nothing was written (valid: an empty or a new directory)"
        )
    return [name for name in files if name not in there]


def _holds(path: Path, content: bytes) -> bool:
    """Return whether a file exists with exactly this content."""
    try:
        return path.is_file() and path.read_bytes() == content
    except OSError:
        return False


_BOTS = ("truthful", "sniper", "hoarder", "random")
_SCHEMA = "agentsim.schema.json"
ItemListKind: TypeAlias = Literal["standard", "scarcity", "abundance", "high_quality", "trap", "random", "all"]
"""The auction's kinds of item lists, repeated here because importing the game would slow down every `--help`."""

ThemeName: TypeAlias = Literal["blaster", "expedition", "plain"]
"""The auction's themes, repeated here for the same reason."""


def gen_items(
    *,
    kind: Annotated[
        ItemListKind,
        o.option(
            "--kind",
            "Which list; `all`: every one but `random`.",
            "standard|scarcity|abundance|high_quality|trap|random|all",
        ),
    ] = "all",
    seed: Annotated[
        int, o.option("--seed", "The seed; the same seed gives the same files.", "N", min=0, max=2**63 - 1)
    ] = 1,
    extra: Annotated[
        int | None, o.option("--extra", "Items of a random list besides its ten (default: 5).", "X", min=0, max=490)
    ] = None,
    theme: Annotated[
        ThemeName,
        o.option("--theme", "The items' names; qualities stay the same.", "blaster|expedition|plain"),
    ] = "blaster",
    out: Annotated[Path, o.path_option("--out", "Where the items files go.", "DIR")] = Path("items"),
    overwrite: Annotated[bool, o.option("--overwrite", "Replace files that differ.")] = False,
    configs: Annotated[
        Path | None, o.path_option("--configs", "Also write a scenario of four bots for each list into DIR.", "DIR")
    ] = None,
) -> None:
    """Write lists of items for the auction.

    Without --overwrite nothing is written if a file is there and would change.
    """
    from agentsim.games.auction.items import KINDS, draw, written
    from agentsim.records.run_files import write_whole

    if extra is not None and kind != "random":
        raise UsageError(f"--extra {extra} is for --kind random; the other lists have a size of their own")
    kinds = [name for name in KINDS if name != "random"] if kind == "all" else [kind]
    texts: dict[Path, str] = {}
    for name in kinds:
        stem = (f"random-{seed}" if name == "random" else name) + f"-{theme}" * (theme != "blaster")
        items = out / f"{stem}.json"
        texts[items] = written(draw(name, seed, 5 if extra is None else extra, theme))
        if configs is not None:
            texts[configs / f"auction_{stem}.toml"] = _scenario(items, stem, seed, configs)
    same = _unchanged(texts, overwrite=overwrite)
    for directory in dict.fromkeys(path.parent for path in texts):
        _check_folder(directory)  # check all of them before creating the first
    for path, text in texts.items():
        if path not in same:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
        typer.echo(safe(f"{'unchanged' if path in same else 'wrote'} {path.as_posix()}"))
    if configs is not None and (root := _out_of_reach(out, configs)) is not None:
        remark(f"the items are outside {root}: run these scenarios with --allow-dir {shlex.quote(str(out))}", 2000)


def _scenario(items: Path, stem: str, seed: int, configs: Path) -> str:
    """Return the TOML of a scenario that plays the list with one bot of each policy.

    Its path is relative to `configs`.
    """
    import tomli_w

    way = Path(os.path.relpath(items.parent.resolve(), configs.resolve())) / items.name
    head = {"game": "auction", "name": f"auction-{stem}", "seed": seed, "game_config": {"items": way.as_posix()}}
    # Write each table separately: tomli-w would inline small ones, but people look for [[players]].
    players = [f"\n[[players]]\n{tomli_w.dumps({'id': bot, 'model': f'bot/{bot}'})}" for bot in _BOTS]
    schema = f"#:schema ./{_SCHEMA}\n" if (configs / _SCHEMA).is_file() else ""
    return schema + tomli_w.dumps(head) + "".join(players)


def _out_of_reach(out: Path, configs: Path) -> Path | None:
    """Return the directory that scenarios in `configs` may read from if it does not contain `out`, else None."""
    from agentsim.scenario.source_files import roots

    root = roots(configs / "any.toml")[0]
    return None if out.resolve().is_relative_to(root) else root


def _unchanged(texts: Mapping[Path, str], *, overwrite: bool) -> set[Path]:
    """Return the files that already have this content. Raises `UsageError` for files that must not be replaced."""
    same = {path for path, text in texts.items() if _holds(path, text.encode())}
    there = [path for path in texts if path not in same and os.path.lexists(path)]
    if odd := [path for path in there if path.is_symlink() or not path.is_file()]:
        raise UsageError(f"{_listed(odd)}: exists and is not a regular file; nothing was written")
    if there and not overwrite:
        raise UsageError(f"{_listed(there)}: exists and differs; nothing was written (--overwrite replaces)")
    return same


def _listed(paths: Iterable[Path]) -> str:
    return ", ".join(path.as_posix() for path in paths)


def _check_folder(directory: Path) -> None:
    """Raise `UsageError` if this folder cannot be created or written to."""
    try:
        nearest = next(filter(_there, (directory, *directory.parents, *directory.absolute().parents)))
        blocked = not nearest.is_dir()
    except OSError as error:
        raise UsageError(f"{directory}: cannot be made: {error.strerror or error}") from None
    if blocked:
        raise UsageError(f"{nearest}: exists and is not a directory; nothing was written")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UsageError(f"{directory}: cannot be written in; nothing was written")


def _there(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
