"""The style sheet of a page: the user's own, or the packaged one, made fit to stand inside `<style>`.

What the style sheet says is in `logs.css`; the page's markup is in `templates/`.
"""

from __future__ import annotations

import re
import stat
from importlib.resources import files
from pathlib import Path

from agentsim.errors import UsageError

__all__ = ["find_css", "inlined"]

MAX_BYTES = 256 * 1024


def find_css(logs_dir: Path) -> str:
    """`logs.css` of a logs directory where there is one, else the packaged style sheet.

    `UsageError` where it is larger than 256 KiB or not UTF-8. A link, a directory or a device of that name is
    not a style sheet: the packaged one serves.
    """
    own = logs_dir / "logs.css"
    try:
        if not stat.S_ISREG(own.lstat().st_mode):
            return _packaged()
        with own.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return _packaged()
    except OSError as error:
        raise UsageError(f"{own}: cannot be read: {error.strerror}") from error
    if len(raw) > MAX_BYTES:
        raise UsageError(f"{own}: a style sheet may have {MAX_BYTES // 1024} KiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{own}: is not UTF-8 (byte {error.start})") from error


def _packaged() -> str:
    return files("agentsim.report").joinpath("logs.css").read_text("utf-8")


def inlined(css: str) -> str:
    """The style sheet as a browser will read it back: it cannot end its element, and its hash will fit.

    `<\\/style` means the same as `</style` inside a CSS string and nothing outside of one. Carriage returns
    and NUL are what an HTML parser replaces before it takes the hash of the content security policy.
    """
    css = css.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    css = css.encode("utf-8", "replace").decode("utf-8")
    return re.sub(r"</(?=style)", r"<\\/", css, flags=re.IGNORECASE)
