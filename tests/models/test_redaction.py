"""The redaction of a key in plain text, in base64, escaped for JSON or a URL, and in pieces."""

from __future__ import annotations

import base64
import gc
import json
import re
import time
from collections.abc import Callable
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.wording import cleaned
from agentsim.models.keys import redact, redact_reply
from tests.amounts import each_row, examples

KEY = "sk-canary-Aa0_1234567890+/abcdef-GHIJKLMNOP"
PIECE = 16


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(sign):04x}" for sign in text)


def in_url(text: str) -> str:
    return "".join(f"%{ord(sign):02x}" for sign in text)


SPELT = {
    "as it is": KEY,
    "a piece": KEY[:PIECE],
    "JSON, the first letters": escaped(KEY[:3]) + KEY[3:],
    "JSON, every letter": escaped(KEY),
    "JSON, capital digits": "".join(f"\\u{ord(sign):04X}" for sign in KEY),
    "JSON, every other letter": "".join(escaped(sign) if at % 2 else sign for at, sign in enumerate(KEY)),
    "JSON, slashes": KEY.replace("/", r"\/"),
    "JSON, a piece": escaped(KEY[5 : 5 + PIECE]),
    "URL": quote(KEY, safe=""),
    "URL, every letter": in_url(KEY),
    "URL, capital digits": in_url(KEY).upper(),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64, behind a letter": base64.b64encode(f"x{KEY}".encode()).decode()[2:],
    "base64, of a header": base64.b64encode(f"Bearer {KEY}".encode()).decode()[12:],
    "base64, for URLs": base64.urlsafe_b64encode(b"\xfb\xff" + KEY.encode()).decode()[4:],
    "base64 in JSON": base64.b64encode(KEY.encode()).decode().replace("/", r"\/").replace("+", r"\u002b"),
    "base64 in a URL": quote(base64.b64encode(KEY.encode()).decode().rstrip("="), safe=""),
}


def shows(text: str) -> bool:
    """Return whether a text shows a piece of the key, by rules independent of the code under test."""
    pieces = {KEY[at : at + PIECE] for at in range(len(KEY) - PIECE + 1)}
    for before in range(3):
        encoded = base64.b64encode(b"x" * before + KEY.encode()).decode()[4:-4]
        pieces |= {encoded[at : at + PIECE] for at in range(len(encoded) - PIECE + 1)}
    in_json = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text).replace("\\/", "/")
    return any(piece in read for read in (text, in_json, unquote(text)) for piece in pieces)


@each_row("spelt", SPELT.values())
def test_a_key_goes_however_it_is_spelt_and_what_stands_around_it_stays(spelt: str) -> None:
    assert shows(spelt), "nothing is hidden there"
    for text in (f"say {spelt} aloud", f'{{"message": "it is {spelt}!"}}'):
        kept = redact_reply(text, [KEY])
        before, _, after = text.partition(spelt)
        assert kept.startswith(before)
        assert kept.endswith(after)
        assert "[redacted]" in kept
        assert not shows(kept)
        assert redact_reply(kept, [KEY]) == kept


@each_row("spelt", SPELT.values())
def test_json_with_a_key_in_it_stays_json(spelt: str) -> None:
    kept = json.loads(redact_reply(f'{{"message": "it is {spelt}!"}}', [KEY]))["message"]
    assert re.fullmatch(r"it is .{0,4}\[redacted\].{0,4}!", kept)


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
    assert redact_reply(json.dumps({"m": key}), [key]) == '{"m": "[redacted]"}'
    assert redact_reply(f"?m={quote(key)}&n=1", [key]) == "?m=[redacted]&n=1"


@pytest.mark.parametrize("ways", [(str, escaped), (str, in_url)], ids=["JSON", "URL"])
@given(data=st.data(), left=st.text(max_size=9), right=st.text(max_size=9))
@examples(100)
def test_no_choice_of_escaped_letters_brings_a_key_through(
    ways: tuple[Callable[[str], str], ...], data: st.DataObject, left: str, right: str
) -> None:
    middle = "".join(data.draw(st.sampled_from(ways))(sign) for sign in KEY)
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
    "URLs": in_url(KEY),
    "base64": base64.b64encode(KEY.encode()).decode(),
}


@pytest.mark.parametrize("length", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_what_it_costs_grows_with_the_text(length: int) -> None:
    """The test measures growth, not time: four times the text may cost nine times as much; quadratic growth is 16."""
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
