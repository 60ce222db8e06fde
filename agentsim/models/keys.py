"""Keys: where a provider's key comes from, and how no text ever shows one.

Reading `.env` files does not belong here (the command line merges them into the mapping), nor does the rule
which address may see a key (`profiles.resolve`).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from urllib.parse import quote

from agentsim.errors import ScenarioError
from agentsim.models.profiles import Profile

__all__ = ["key_for", "redact", "redact_reply"]

_PIECE = 8  # characters: a server that masks a key still shows its ends, so pieces count as the key
_LONG_PIECE = 16  # characters: what a model says may share a word with a key like `no-key-required`
_SHOWN = "[redacted]"


def key_for(profile: Profile, env: Mapping[str, str]) -> str | None:
    """The key to send, or None where the profile names no variable.

    Raises `ScenarioError`, which names the variable and never its value.
    """
    if not profile.key_envs:
        return None
    for name in profile.key_envs:
        value = env.get(name, "").strip()
        if not value:
            continue
        # A line break or an accent would end up, with the key, in an error of the HTTP layer.
        if not re.fullmatch(r"[\x21-\x7e]+", value):
            raise ScenarioError(f"the key in {name} has characters that no key has (a space, a line break, an accent)")
        return value
    names = " or ".join(profile.key_envs)
    raise ScenarioError(f"{profile.provider} needs a key: set {names} in the environment or in ./.env")


def redact_reply(text: str, secrets: Sequence[str]) -> str:
    """As `redact`, for a model's own words: no key of fewer than 8 characters, and longer pieces only.

    Local servers get keys like `EMPTY`, which would punch holes into a game's decisions.
    """
    return redact(text, [secret for secret in secrets if len(secret) >= _PIECE], _LONG_PIECE) if secrets else text


def redact(text: str, secrets: Iterable[str], piece: int = _PIECE) -> str:
    """The text with every secret, and every piece of 8 characters or more of one, replaced; so are its encodings."""
    forms = {form for secret in secrets if secret for form in _forms(secret)}
    if not forms:
        return text
    spans = sorted(span for form in forms for span in _found(form, text, piece))
    if not spans:
        return text
    out: list[str] = []
    position = 0
    for start, end in spans:
        if start >= position and (start > position or not out):
            out += [text[position:start], _SHOWN]
        position = max(position, end)
    return "".join((*out, text[position:]))


@lru_cache(16)  # with every reply the same few
def _forms(secret: str) -> frozenset[str]:
    forms = {secret, quote(secret, safe="")}
    for before in range(3):  # the three ways in which base64 can cut what stands before the key
        encoded = base64.b64encode(b"\0" * before + secret.encode()).decode().rstrip("=")
        forms.add(encoded[4 if before else 0 : -2])
    # Encodings of a short secret are too short to be told from words.
    return frozenset(form for form in forms if form == secret or len(form) >= _PIECE)


def _found(form: str, text: str, piece: int) -> Iterator[tuple[int, int]]:
    size = min(len(form), piece)
    for offset in range(len(form) - size + 1):
        part = form[offset : offset + size]
        at = text.find(part)
        while at >= 0:
            yield at, at + size
            at = text.find(part, at + 1)
