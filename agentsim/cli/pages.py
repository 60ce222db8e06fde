"""pages: a run's files as commands meet them: history read, page written, and the command that goes on with it.

How a page looks is `report`'s business.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from agentsim.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from agentsim.history.files import RunFiles
    from agentsim.history.record import History
    from agentsim.report.page import PageOptions

__all__ = ["again_with", "elsewhere", "load_history", "write_page"]


def elsewhere(directory: Path) -> str:
    """The option that a command to copy needs where runs are not kept in `logs`."""
    return "" if str(directory) == "logs" else f" --logs-dir {shlex.quote(str(directory))}"


def again_with(files: RunFiles) -> str:
    """The command that goes on with a run."""
    return f"agentsim resume {files.name}{elsewhere(files.directory)}"


def load_history(path: Path) -> History:
    """The history in a file; `UsageError` in one line for anything else, since a log is foreign data too."""
    from pydantic import ValidationError

    from agentsim.history.record import History

    try:
        return History.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(f"{path}: is not an agentsim history: {where}: {first['msg']}") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None


def write_page(files: RunFiles, options: PageOptions) -> Path:
    """Write NAME.html from NAME.json."""
    from agentsim.games import find
    from agentsim.history.files import write_whole
    from agentsim.history.restore import told_events
    from agentsim.report.page import render
    from agentsim.report.style import find_css
    from agentsim.report.visible import as_seen_by

    history = load_history(files.history)
    seen = history if options.as_seen_by is None else as_seen_by(history, options.as_seen_by)
    game = find(history.game)
    seats = [player.id for player in history.players if not player.id.startswith("@")]
    panels = game.panels(told_events(seen, game), seats)
    page = render(history, panels, options, name=files.name, css=find_css(files.directory))
    write_whole(files.page, page)
    return files.page
