"""`agentsim init`: a folder to work in. What is copied is shipped; nothing here writes a scenario or a prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentsim.cli.options import given_path

__all__ = ["init"]

_FOLDERS = ("configs", "prompts", "items")
_STYLE = "logs/logs.css"
# A file whose name begins with a dot would be overlooked in the repository, or read there as if it were meant.
_RENAMED = {"env.example": ".env.example", "gitignore": ".gitignore", "README.md": "README.md"}


def init(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder; made where there is none.", parser=given_path)
    ],
) -> None:
    """Make a folder with configs, prompts and items to run.

    Nothing is ever replaced: where a file is there and differs, nothing at all is written.
    """
    from agentsim.cli.terminal_output import safe

    files = _shipped()
    _check(directory, files)
    new = [name for name in files if not (directory / name).exists()]
    for name in new:
        _write(directory / name, files[name])
    if not new:
        typer.echo(safe(f"{directory.as_posix()}: all {len(files)} files are there already"))
        return
    there = f", {len(files) - len(new)} were there already" if len(new) < len(files) else ""
    typer.echo(safe(f"wrote {len(new)} files to {directory.as_posix()}{there}; its README.md says what to run first"))


def _write(path: Path, content: bytes) -> None:
    """Write a file that is not there; `AgentsimError` where it cannot be, or has come to be there meanwhile."""
    from agentsim.errors import AgentsimError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("xb")
    except OSError as error:
        raise AgentsimError(f"{path}: cannot be made: {error.strerror or error}") from None
    try:
        with file:
            file.write(content)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise AgentsimError(f"{path}: cannot be written: {error.strerror or error}") from None


def _shipped() -> dict[str, bytes]:
    """Every file of a new folder by its path there: from the wheel, or from the checkout that this is."""
    beside = Path(__file__).parent / "starter"
    top = beside if (beside / "configs").is_dir() else Path(__file__).parents[2]
    found = [path for name in _FOLDERS for path in sorted((top / name).rglob("*")) if path.is_file()]
    files = {path.relative_to(top).as_posix(): path.read_bytes() for path in (*found, top / _STYLE)}
    return files | {name: (beside / shipped).read_bytes() for shipped, name in _RENAMED.items()}


def _check(directory: Path, files: dict[str, bytes]) -> None:
    """`UsageError` where a file would have to be replaced, or cannot be written."""
    from agentsim.cli.folder import check_folder
    from agentsim.errors import UsageError

    folders = {parent for name in files for parent in Path(name).parents}
    for folder in sorted(folders):
        check_folder(directory / folder)
    different = [name for name, content in files.items() if not _free(directory / name, content)]
    if different:
        few = ", ".join(different[:3]) + (", ..." if len(different) > 3 else "")
        raise UsageError(
            f"{directory}: {few}: there and different; nothing was written (valid: an empty or a new directory)"
        )


def _free(path: Path, content: bytes) -> bool:
    """Whether the file may be written, or is there as it would be."""
    if path.is_symlink():
        return False
    try:
        return not path.exists() or (path.is_file() and path.read_bytes() == content)
    except OSError:
        return False
