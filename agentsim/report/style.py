"""The style sheet of a page, the classes by which it colours players, and the content security policy.

What the style sheet says is in `logs.css`; the page's markup is in `templates/`.
"""

from __future__ import annotations

import base64
import hashlib
import re
import stat
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

from agentsim.errors import UsageError

__all__ = ["HEAT_STEPS", "content_security_policy", "find_css", "inlined", "tone", "tone_of"]

MAX_BYTES = 256 * 1024
COLOURS, DASHES = 8, 3
HEAT_STEPS = 9
"""Steps of shading: the classes `heat0` to `heat9`."""


def tone(place: int) -> str:
    """The classes of the nth player or series; beyond eight, the dashes of lines and the fill of dots tell it apart."""
    dash = place // COLOURS % DASHES
    return f"t{place % COLOURS}" + (f" dash{dash}" if dash else "")


def tone_of(name: str, players: Mapping[str, int], other: str = "plain") -> str:
    """The classes of the player of that name; `other` for a name that is not a player's."""
    return tone(players[name]) if name in players else other


def find_css(logs_dir: Path) -> str:
    """`logs.css` of a logs directory where there is one, else the packaged style sheet.

    `UsageError` where it is larger than 256 KiB or not UTF-8. A link, a directory or a device of that name is
    not a style sheet: the packaged one serves.
    """
    packaged = files("agentsim.report").joinpath("logs.css")
    own = logs_dir / "logs.css"
    try:
        if not stat.S_ISREG(own.lstat().st_mode):
            return packaged.read_text("utf-8")
        with own.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return packaged.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"{own}: cannot be read: {error.strerror}") from error
    if len(raw) > MAX_BYTES:
        raise UsageError(f"{own}: a style sheet may have {MAX_BYTES // 1024} KiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{own}: is not UTF-8 (byte {error.start})") from error


def inlined(css: str) -> Markup:
    """The style sheet as a browser will read it back: it cannot end its element, and its hash will fit.

    `<\\/style` means the same as `</style` inside a CSS string and nothing outside of one. Carriage returns
    and NUL are what an HTML parser replaces before it takes the hash of the content security policy.
    """
    css = css.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    css = css.encode("utf-8", "replace").decode("utf-8")
    return Markup(re.sub(r"</(?=style)", r"<\\/", css, flags=re.IGNORECASE))  # noqa: S704 (it cannot end its element)


def content_security_policy(style: str, script: str | None = None) -> Markup:
    """Loads nothing, and lets only this very style and script count (None: no script)."""

    def sha(content: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() + "'"

    # Our own words, base64 letters and quotes: safe in a double-quoted attribute as it stands.
    return Markup(  # noqa: S704 (see the line above)
        f"default-src 'none'; style-src {sha(style)}; {'' if script is None else f'script-src {sha(script)}; '}"
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
