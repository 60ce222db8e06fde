"""Keys are found by name and never shown."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.errors import ScenarioError
from agentsim.models.keys import key_for, redact
from agentsim.models.profiles import BUILT_IN, ProviderSettings, resolve
from tests.amounts import each_row

KEY = "sk-canary-1234567890+/abcdef"


def test_the_key_is_stripped() -> None:
    assert key_for(BUILT_IN["openai"], {"OPENAI_API_KEY": f"  {KEY}\n"}) == KEY


def test_the_first_variable_that_is_set_wins() -> None:
    gemini = BUILT_IN["gemini"]
    assert key_for(gemini, {"GEMINI_API_KEY": "one", "GOOGLE_API_KEY": "two"}) == "one"
    assert key_for(gemini, {"GEMINI_API_KEY": " ", "GOOGLE_API_KEY": "two"}) == "two"


def test_a_missing_key_names_its_variable() -> None:
    with pytest.raises(ScenarioError, match="GEMINI_API_KEY or GOOGLE_API_KEY"):
        key_for(BUILT_IN["gemini"], {"OPENAI_API_KEY": KEY})


@pytest.mark.parametrize("value", [f"{KEY}\nX", f"{KEY} x", f"{KEY}é", f"{KEY}\x00"])
def test_a_broken_key_is_refused_and_not_shown(value: str) -> None:
    with pytest.raises(ScenarioError, match="OPENAI_API_KEY") as caught:
        key_for(BUILT_IN["openai"], {"OPENAI_API_KEY": value})
    assert "canary" not in str(caught.value)


QUOTED = [
    '"{}"',
    "'{}'",
    "`{}`",
    "\u201c{}\u201d",
    "\u2018{}\u2019",
    "\u201e{}\u201c",
    "\u00ab{}\u00bb",
    '"{}',
    "{}'",
    ' "{}"\r\n',
]


@each_row("quotes", QUOTED)
def test_a_key_in_quotes_is_refused_in_one_line_that_says_so(quotes: str) -> None:
    with pytest.raises(ScenarioError, match="the key in OPENAI_API_KEY stands in quotes") as caught:
        key_for(BUILT_IN["openai"], {"OPENAI_API_KEY": quotes.format(KEY)})
    assert "canary" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("around", ["{}\n", "{}\r\n", "\t{} ", "\u00a0{}\u00a0"])
def test_what_is_not_seen_around_a_key_is_no_part_of_it(around: str) -> None:
    assert key_for(BUILT_IN["openai"], {"OPENAI_API_KEY": around.format(KEY)}) == KEY


def test_no_variable_no_key() -> None:
    env = {"OPENAI_API_KEY": KEY}
    assert key_for(BUILT_IN["ollama"], env) is None
    assert key_for(resolve("openai", {"openai": ProviderSettings(base_url="http://127.0.0.1:1/v1")}, env), env) is None


@each_row(
    "text",
    [
        KEY,
        f"Bearer {KEY}!",
        f"bad key {KEY[:12]}****",
        f"key ends in {KEY[-9:]}",
        quote(KEY, safe=""),
        base64.b64encode(KEY.encode()).decode(),
        base64.b64encode(f"Bearer {KEY}".encode()).decode(),
        base64.b64encode(f"xx:{KEY}".encode()).decode(),
        KEY + KEY,
    ],
)
def test_a_secret_its_pieces_and_its_encodings_go(text: str) -> None:
    shown = redact(text, [KEY])
    assert "[redacted]" in shown
    for form in (KEY, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode()):
        assert not any(form[at : at + 8] in shown for at in range(len(form) - 7))


def test_what_stands_around_a_secret_stays() -> None:
    assert redact(f"a {KEY} b {KEY} c", [KEY, ""]) == "a [redacted] b [redacted] c"
    assert redact("nothing here", [KEY]) == "nothing here"
    assert redact("the tok is tok", ["tok"]) == "the [redacted] is [redacted]"


@given(st.text(), st.text())
def test_no_surroundings_bring_a_secret_through(before: str, after: str) -> None:
    assert KEY not in redact(before + KEY + after, [KEY])
