"""Building blocks of all pages: safe text, numbers and tables, tones, style sheet, security policy and templates."""

from __future__ import annotations

import base64
import hashlib
import math
import re
import stat
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache, partial
from importlib.resources import files
from itertools import repeat, zip_longest
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from agentsim.engine.letters import JOINERS, joining
from agentsim.engine.panel import Cell, DataTable, Struck
from agentsim.engine.wording import by_count, sentence
from agentsim.errors import UsageError
from agentsim.patterns import Pattern

MAX_BYTES = 256 * 1024
COLOURS, SERIES, DASHES = 8, 6, 3
HEAT_STEPS = 9
"""The steps of shading: the classes `heat0` to `heat9`."""
# Characters that a browser would hide, reorder or reject: controls except newline and tab, lone surrogates,
# bidirectional controls, invisible formatting, the tag block, line and paragraph separators, a byte order mark.
# Characters that are `joining` are kept, since Persian words and emoji families need them.
_HIDDEN = Pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]|" + JOINERS.pattern
)


class TemplateContext(SimpleNamespace):
    """The context of a template. Access to a missing name raises."""


def plain(text: object) -> str:
    """Return foreign text for attributes, titles and SVG, not yet escaped. Hidden characters become `⟨U+202E⟩`."""
    return _HIDDEN.sub(partial(_revealed, "⟨U+{:04X}⟩"), str(text))


def _revealed(chip: str, hidden: re.Match[str]) -> str:
    """Return joining characters unchanged, and a chip for each other hidden character."""
    kept = joining(hidden) if JOINERS.match(hidden[0]) else ""
    return kept + "".join(chip.format(ord(char)) for char in hidden[0].removeprefix(kept))


def first_upper(text: str) -> str:
    """Return text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def fitted(text: object, most: int) -> str:
    """Return `plain` text, cut with an ellipsis to at most `most` characters."""
    shown = plain(str(text)[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def foreign(text: object) -> Markup:
    """Return foreign text as an element's content: escaped, isolated in `<bdi>`, hidden characters as visible chips.

    ASCII text needs no isolation. In text that starts from left to right, each run of right-to-left words is isolated
    as well, so that a following number keeps its place.
    """
    safe = _chipped(text)
    if safe.isascii():
        return Markup(safe)  # noqa: S704 (escaped in `_chipped`; a chip holds only hex digits)
    first = _STRONG.search(safe)
    runs = safe if first is None or _RIGHT_TO_LEFT.match(first[0]) else _isolated(safe)
    return Markup(f"<bdi>{runs}</bdi>")  # noqa: S704 (as above)


def worded(text: object) -> Markup:
    """Return a game's words as an element's content, like `foreign` but always from left to right."""
    safe = _chipped(text)
    return Markup(safe if safe.isascii() else f'<bdi dir="ltr">{_isolated(safe)}</bdi>')  # noqa: S704 (as above)


def _chipped(text: object) -> str:
    # Escaping first is safe: it neither creates nor removes hidden characters, and a chip holds only hex digits. Quotes
    # need no escape in an element's content; in JSON they are a fifth of the text.
    safe = str(escape(str(text).replace("\r\n", "\n"))).replace("&#34;", '"')
    return _HIDDEN.sub(partial(_revealed, '<span class="chip">U+{:04X}</span>'), safe)


_RIGHT_TO_LEFT = Pattern("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_STRONG = Pattern(rf"{_RIGHT_TO_LEFT.pattern}|[^\W\d_]")
_RUN = Pattern(rf"{_RIGHT_TO_LEFT.pattern}(?:[\s\u200c\u200d_-]*{_RIGHT_TO_LEFT.pattern})*")


def _isolated(safe: str) -> str:
    return _RUN.sub(r"<bdi>\g<0></bdi>", safe) if _RIGHT_TO_LEFT.search(safe) else safe


def number(value: float | None, decimals: int | None = None) -> str:
    """Return a number with thousands separators and these or few decimals, or a dash for None."""
    if value is None:
        return "–"
    if decimals is not None:
        text = f"{value:,.{decimals}f}"
    elif isinstance(value, int) or value.is_integer():
        text = f"{int(value):,}"
    else:
        text = f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"
    return text.replace("-", "\u2212")


def number_or_word(value: float | str | None, decimals: int | None = None) -> str:
    """Return a number as `number` does, and a word as it is."""
    return value if isinstance(value, str) else number(value, decimals)


def money(usd: float | None) -> str:
    """Return US dollars as text, "unknown" for None."""
    if usd is None:
        return "unknown"
    if usd == 0 or usd >= 1:
        return f"${usd:,.2f}"
    return f"${usd:.4f}" if usd >= 0.0001 else "under $0.0001"


def span_of_time(seconds: float) -> str:
    """Return a duration in its two largest units."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def when(stamp: str) -> str:
    """Return an ISO time to the second, or any other text unchanged."""
    try:
        return f"{datetime.fromisoformat(stamp):%Y-%m-%d %H:%M:%S %Z}".rstrip()
    except ValueError:
        return stamp


def tone(index: int) -> str:
    """Return the classes of the nth player or series. After eight, dashes and the fill of dots distinguish them."""
    dash = index // COLOURS % DASHES
    return f"t{index % COLOURS}" + (f" dash{dash}" if dash else "")


def series_tone(index: int) -> str:
    """Return the classes of the nth series that is not a player's. After six, dashes distinguish them."""
    dash = index // SERIES % DASHES
    return f"s{index % SERIES}" + (f" dash{dash}" if dash else "")


def tone_of(name: str, players: Mapping[str, int], other: str = "plain") -> str:
    """Return the classes of the player of that name, or `other` if it is not a player."""
    return tone(players[name]) if name in players else other


LONG = 14
"""Text with more characters than this may wrap in a cell."""


_ALIKE = 100
"""The largest ratio of two numbers with the same number of decimals."""


class CellView(NamedTuple):
    """A cell as text. `heat` is 0 to 9, or None if the cell is not shaded; `struck` if it is shown struck through."""

    text: str
    numeric: bool
    heat: int | None = None
    struck: bool = False


_NUMBERS = Pattern(r"[-+($\d][-+()$%.,\d]*( (to|[-+()$%.,\d]+))*")
_MINUS = Pattern(r"(?<![\w.])-(?=[$\d])")


def shared_decimals(values: Iterable[Cell]) -> int | None:
    """Return the decimals that all numbers of a column get, or None if their sizes are too different for that."""
    found = [abs(value) for value in values if isinstance(value, int | float) and value and math.isfinite(value)]
    if all(value == int(value) for value in found) or max(found) > _ALIKE * min(found):
        return None
    return max(len(number(value).partition(".")[2]) for value in found)


def cell(value: Cell, heat: int | None = None, decimals: int | None = None) -> CellView:
    """Return one value as text; in an interval or another text of numbers alone, with minus signs."""
    struck = isinstance(value, Struck)
    if isinstance(value, str) and _NUMBERS.fullmatch(value):
        value = _MINUS.sub("\u2212", value)
    if isinstance(value, str):
        return CellView(value, False, struck=struck)
    return CellView(number(value, decimals), True, heat)


def table(panel: DataTable) -> TemplateContext:
    """Lay out a table with every cell as text. `right` says for each column whether it is right-aligned, like numbers.

    A column of numbers and words, such as `passes` for a bid, is right-aligned, unless it has more long texts than
    numbers.
    """
    numbers = [value for row in panel.rows for value in row if isinstance(value, int | float)]
    low, high = min([0.0, *numbers]), max(numbers, default=0.0)
    columns = [[value for value in column if value is not None] for column in zip_longest(*panel.rows)]
    kinds = [{isinstance(value, str) for value in column} for column in columns]
    decimals = list(map(shared_decimals, columns))
    long = [sum(isinstance(value, str) and len(value) > LONG for value in column) for column in columns]
    right = [
        kind != {True} and many <= sum(not isinstance(value, str) for value in column)
        for column, kind, many in zip(columns, kinds, long, strict=True)
    ]

    def shown(value: Cell, kinds: set[bool], decimals: int | None, shade: float | None) -> CellView:
        if value is None and kinds == {True}:
            return CellView(number(None), False)
        if panel.heat and isinstance(value, int | float):
            return cell(value, math.ceil(HEAT_STEPS * (value - low) / (high - low)) if high > low else 0, decimals)
        return cell(value, None if shade is None else math.ceil(HEAT_STEPS * min(1.0, max(0.0, shade))), decimals)

    shades = repeat(repeat(None)) if panel.heat or not panel.shade else panel.shade
    rows = tuple(tuple(map(shown, row, kinds, decimals, shade)) for row, shade in zip(panel.rows, shades, strict=False))
    return TemplateContext(shape="table", panel=panel, rows=rows, right=right)


def find_css(logs_dir: Path) -> str:
    """Return `logs.css` of a logs directory if it is a regular file, else the packaged style sheet.

    Raises `UsageError` if it is larger than 256 KiB or not UTF-8.
    """
    own = logs_dir / "logs.css"
    try:
        if not stat.S_ISREG(own.lstat().st_mode):
            raise FileNotFoundError
        with own.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return files("agentsim.report").joinpath("logs.css").read_text("utf-8")
    except OSError as error:
        raise UsageError(f"{own}: cannot be read: {error.strerror}") from error
    if len(raw) > MAX_BYTES:
        raise UsageError(f"{own}: a style sheet may have {MAX_BYTES // 1024} KiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{own}: is not UTF-8 (byte {error.start})") from error


def inlined(css: str) -> Markup:
    """Return the style sheet so that it cannot end its element and its hash matches what a browser reads.

    `<\\/style` means the same as `</style` inside a CSS string and has no meaning outside of one. HTML parsers replace
    carriage returns and NUL before they compute the hash for the content security policy.
    """
    css = css.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    css = css.encode("utf-8", "replace").decode("utf-8")
    return Markup(re.sub(r"</(?=style)", r"<\\/", css, flags=re.IGNORECASE))  # noqa: S704 (it cannot end its element)


def content_security_policy(style: str, script: str | None = None) -> Markup:
    """Return a policy that loads nothing and allows only this style and this script (None: no script)."""

    def sha(content: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() + "'"

    # Only our own text, base64 letters and quotes: safe in a double-quoted attribute.
    return Markup(  # noqa: S704 (see the line above)
        f"default-src 'none'; style-src {sha(style)}; {'' if script is None else f'script-src {sha(script)}; '}"
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def environment() -> Environment:
    """Return the Jinja environment of the templates."""
    made = Environment(
        loader=PackageLoader("agentsim.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # A safety net for templates that forget `foreign`: hidden characters never reach the page.
        finalize=lambda value: plain(value) if type(value) is str else value,
    )
    words = (first_upper, foreign, worded, sentence, by_count, plain)
    filters = (*words, number, number_or_word, money, when, span_of_time)
    made.filters |= {function.__name__: function for function in filters}
    return made
