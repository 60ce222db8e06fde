"""A key in a reply goes however it is written: no reader, page or terminal can make it whole again."""

from __future__ import annotations

import base64
import gc
import html
import json
import re
import time
from contextlib import suppress
from urllib.parse import quote, unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsim.engine.prompt import cleaned
from agentsim.models.redaction import redact, redact_reply

KEY = "sk-canary-Aa0_1234567890+/abcdef-GHIJKLMNOP"
PIECE = 16


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(sign):04x}" for sign in text)


def twice(text: str) -> str:
    return json.dumps(text)[1:-1]


def between(sign: str, text: str = KEY) -> str:
    return sign.join(text)


SPELT = {
    "as it is": KEY,
    "the first letters escaped": r"\u0073\u006b-" + KEY[3:],
    "every letter escaped": escaped(KEY),
    "capital digits": escaped(KEY).replace("a", "A").replace("b", "B").replace("f", "F"),
    "every other letter escaped": "".join(escaped(sign) if at % 2 else sign for at, sign in enumerate(KEY)),
    "slashes escaped": KEY.replace("/", r"\/"),
    "escaped as Markdown": KEY.replace("-", r"\-").replace("_", r"\_"),
    "JSON in JSON": twice(escaped(KEY)),
    "JSON in JSON in JSON": twice(twice(escaped(KEY))),
    "slashes escaped twice": twice(KEY.replace("/", r"\/")),
    "bytes of Python": "".join(f"\\x{ord(sign):02x}" for sign in KEY),
    "zero-width characters": between("\u200b"),
    "zero-width characters, escaped": between(r"\u200b"),
    "zero-width characters, escaped twice": between(r"\\u200d"),
    "soft hyphens, escaped": between(r"\u00ad"),
    "characters without width that are no controls": between("\u034f\ufe0f\u115f"),
    "of another plane, escaped": between(r"\udb40\udc41"),
    "control characters, escaped": between(r"\u0000\u007f\b\f"),
    "colours": between(r"\u001b[31m"),
    "colours, all escaped": between(r"\u001b\u005b\u0033\u0031\u006d"),
    "eight-bit controls": between(r"\u009b"),
    "links of a terminal, ended by a bell": between(r"\u001b]8;;http://x\u0007"),
    "links of a terminal, ended by a backslash": between(r"\u001b]8;;http://x\u001b\\"),
    "an escape character and what is not seen": between(r"\u001b\u200b"),
    "in a command that never ends": r"\u001b]" + between(r"\u200b"),
    "letters and colours": r"\u001b[0m".join(map(escaped, KEY)),
    "fullwidth": "".join(chr(ord(sign) + 0xFEE0) for sign in KEY),
    "the Kelvin sign": KEY.replace("K", r"\u212a"),
    "entities": "".join(f"&#{ord(sign)};" for sign in KEY),
    "hexadecimal entities": "".join(f"&#x{ord(sign):x};" for sign in KEY),
    "entities of entities": "".join(f"&amp;amp;#{ord(sign)};" for sign in KEY),
    "named entities": KEY.replace("/", "&sol;").replace("+", "&plus;").replace("_", "&lowbar;"),
    "entities that are not seen": between("&shy;&zwj;"),
    "as in a URL": quote(KEY, safe=""),
    "every letter as in a URL": "".join(f"%{ord(sign):02X}" for sign in KEY),
    "as in a URL in a URL": quote(quote("".join(f"%{ord(sign):02x}" for sign in KEY))),
    "a URL in JSON": escaped("".join(f"%{ord(sign):02x}" for sign in KEY)),
    "entities in JSON": escaped("".join(f"&#{ord(sign)};" for sign in KEY)),
    "JSON in a URL": quote(escaped(KEY)),
    "base64": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "base64 in JSON": escaped(base64.b64encode(KEY.encode()).decode()),
}


def decodings(text: str) -> list[str]:
    """What a text may be read as, step by step: by rules of its own, so that two mistakes are not one."""
    found = [text]
    with suppress(ValueError):
        found.append(cleaned(json.loads(f'"{text}"')))
    for _ in range(4):
        text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
        text = re.sub(r"\\+x([0-9a-fA-F]{2})", lambda match: chr(int(match[1], 16)), text)
        text = re.sub(r"\\+(?=[/_-])|\\+[bf]", "", text)
        text = html.unescape(unquote(text))
        seen = "".join(sign for sign in cleaned(text) if sign.isascii())
        spelt = "".join(sign for sign in text if sign.isascii() and sign.isprintable())
        found += [text, cleaned(text), seen, spelt]
    return found


def shows(text: str) -> bool:
    """Whether a piece of the key can be read in a text."""
    pieces = {KEY[at : at + PIECE] for at in range(len(KEY) - PIECE + 1)}
    for before in range(3):
        encoded = base64.b64encode(b"x" * before + KEY.encode()).decode()[4:-4]
        pieces |= {encoded[at : at + PIECE] for at in range(len(encoded) - PIECE + 1)}
    return any(piece in read for read in decodings(text) for piece in pieces)


@pytest.mark.parametrize("spelt", SPELT.values(), ids=SPELT)
def test_a_key_goes_however_it_is_spelt_and_what_stands_around_it_stays(spelt: str) -> None:
    assert shows(spelt) or spelt == SPELT["fullwidth"], "nothing is hidden there"
    for text in (f"say {spelt} aloud", f'{{"message": "it is {spelt}!"}}'):
        kept = redact_reply(text, [KEY])
        before, _, after = text.partition(spelt)
        assert kept.startswith(before)
        assert kept.endswith(after)
        assert "[redacted]" in kept
        assert not shows(kept)
        assert redact_reply(kept, [KEY]) == kept


@pytest.mark.parametrize("spelt", SPELT.values(), ids=SPELT)
def test_json_with_a_key_in_it_stays_json(spelt: str) -> None:
    if "\\x" not in spelt and "\\-" not in spelt:  # which is no JSON
        kept = json.loads(redact_reply(f'{{"message": "it is {spelt}!"}}', [KEY]))["message"]
        assert re.fullmatch(r"it is .{0,12}\[redacted\].{0,4}!", kept)


@pytest.mark.parametrize(
    "text",
    [
        r'{"message": "C:\\new\\table, 50%off & more; \u00e9t\u00e9 &amp; \u001b[1mbold\u001b[0m"}',
        "100%ab &copy; \\\\ \u200b 中文 ｓｋ－",
        f"only {KEY[:15]} and {KEY[-15:]}",
        " ".join(KEY),
    ],
)
def test_a_text_without_the_key_stays_as_it_is(text: str) -> None:
    assert redact_reply(text, [KEY, "EMPTY", "no-key-required"]) == text


@pytest.mark.parametrize("key", [r"sk-back\slash-0123456789", 'sk-"quote"-0123456789', "sk-100%41-&amp;-0123456789"])
def test_a_key_may_hold_what_escapes_begin_with(key: str) -> None:
    assert redact_reply(f"a {key} b", [key]) == "a [redacted] b"
    for text in (json.dumps({"m": key}), json.dumps({"m": json.dumps({"m": key})})):
        assert key[-16:] not in redact_reply(text, [key])
        assert redact_reply(text, [key]).count("[redacted]") == 1


def ways(sign: str) -> st.SearchStrategy[str]:
    return st.sampled_from(
        [
            sign,
            sign,
            escaped(sign),
            twice(escaped(sign)),
            f"&#{ord(sign)};",
            f"&amp;#x{ord(sign):x};",
            f"%{ord(sign):02x}",
        ]
    )


JUNK = st.sampled_from(["", "", "", "\u200b", r"\u200b", r"\\u2060", r"\u001b[31m", r"\u0007", r"\b", "&shy;", "%00"])


@given(st.tuples(*(st.tuples(ways(sign), JUNK) for sign in KEY)), st.text(max_size=9), st.text(max_size=9))
@settings(max_examples=150, deadline=None)
def test_no_mixture_of_spellings_brings_a_key_through(
    spelt: tuple[tuple[str, str], ...], left: str, right: str
) -> None:
    middle = "".join(part for pair in spelt for part in pair)
    assert not shows(redact_reply(cleaned(f"{left} {middle} {right}"), [KEY]))


UNITS = {
    "words": "I vote for B. ",
    "escapes": r"\u0073",
    "keys": KEY,
    "escaped keys": escaped(KEY),
    "most of a key": f"{KEY[:15]} ",
    "backslashes": "\\",
    "slashes": r"\/",
    "quotes": r"\"",
    "percent signs": "%25",
    "ampersands": "&amp;",
    "both in turn": "%26#37;",
    "entities without an end": "&abcdefghij",
    "commands": r"\u001b[31m",
    "commands that never end": r"\u001b]",
    "letters and others": "a中",
    "keys full of nothing": between(r"\u200b"),
    "base64": base64.b64encode(KEY.encode()).decode(),
}


@pytest.mark.parametrize("length", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_what_it_costs_grows_with_the_text(length: int) -> None:
    """Growth is looked at, and no clock: four times the text may cost nine times as much, where a square costs 16."""
    key = (KEY * 5)[:length]

    def cost(text: str) -> float:
        runs = []
        for _ in range(3):
            began = time.process_time()
            redact(text, [key])
            redact_reply(text, [key])
            runs.append(time.process_time() - began)
        return min(runs)

    gc.disable()
    try:
        for name, unit in UNITS.items():
            short, long = ((unit * (size // len(unit) + 1))[:size] for size in (8_000, 32_000))
            assert cost(long) < 9 * max(cost(short), 0.0005), name
    finally:
        gc.enable()
