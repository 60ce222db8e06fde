"""Foreign text made safe to read, numbers written for a reader, and the template environment with both as filters."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from agentsim.engine.wording import sentence

__all__ = ["environment", "fitted", "foreign", "money", "number", "plain", "span_of_time", "when"]

# What a browser would hide, reorder or refuse: controls but newline and tab, lone surrogates, bidirectional
# controls, invisible formatting, the tag block, line and paragraph separators, a byte order mark. The joiners
# U+200C and U+200D stay between two non-ASCII characters, where Persian words and family emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)


@cache
def _code_point(char: str) -> str:
    return f"U+{ord(char):04X}"


def plain(text: object) -> str:
    """Foreign text for attributes, titles and SVG, still to be escaped: hidden characters become `⟨U+202E⟩`."""
    return _HIDDEN.sub(lambda match: f"⟨{_code_point(match[0])}⟩", str(text))


def fitted(text: object, most: int) -> str:
    """`plain`, with an ellipsis where there would be more than so many characters."""
    shown = plain(str(text)[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def foreign(text: object) -> Markup:
    """Foreign text as an element's content: escaped, isolated in `<bdi>`, hidden characters as visible chips."""
    # Escaping first is safe: it neither makes nor removes a hidden character, and a chip holds only hex digits.
    # Quotes need no escape in an element's content, and in JSON they are a fifth of the text.
    safe = str(escape(str(text).replace("\r\n", "\n"))).replace("&#34;", '"')
    chips = _HIDDEN.sub(lambda match: f'<span class="chip">{_code_point(match[0])}</span>', safe)
    return Markup("<bdi>" + chips + "</bdi>")  # noqa: S704 (escaped above; a chip holds only hex digits)


def number(value: float | None) -> str:
    """A number with thousands separators and no more digits than a reader can use; a dash for None."""
    if value is None:
        return "–"
    if isinstance(value, int) or value.is_integer():
        text = f"{int(value):,}"
    elif abs(value) >= 100:
        text = f"{value:,.1f}"
    else:
        text = f"{value:.3g}"
    return text.replace("-", "\u2212")


def money(usd: float | None) -> str:
    """US dollars; an unknown cost is said to be unknown, never 0."""
    if usd is None:
        return "unknown"
    if usd == 0 or usd >= 1:
        return f"${usd:,.2f}"
    return f"${usd:.4f}" if usd >= 0.0001 else "under $0.0001"


def span_of_time(seconds: float) -> str:
    """A duration in its two largest units."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def when(stamp: str) -> str:
    """An ISO time to the second; anything else as it stands."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    zone = moment.tzname()
    return f"{moment:%Y-%m-%d %H:%M:%S}" + (f" {zone}" if zone else "")


@cache
def environment() -> Environment:
    """The Jinja environment of the page's templates."""
    environment = Environment(
        loader=PackageLoader("agentsim.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # The net under every place where a template forgets `foreign`: no hidden character gets through.
        finalize=lambda value: plain(value) if type(value) is str else value,
    )
    filters = {"foreign": foreign, "sentence": sentence, "plain": plain, "number": number, "money": money}
    environment.filters |= filters
    return environment
