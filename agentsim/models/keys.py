r"""Keys: the rules by which environment variables are sent to addresses, and how keys are hidden in texts.

Four rules, by the variable's name:

- `HOME` is not a key, and `LAB_PRIVATE_KEY` signs or decrypts: they are never sent;
- `GITHUB_TOKEN` belongs to an account elsewhere: it is never sent;
- `OPENAI_API_KEY` belongs to a built-in provider: it is sent to that provider's own address;
- `LAB_KEY`, like any other key, is sent where the scenario says, and a line says so before the first call.

With `--allow-key` a variable may be sent to any address.

A key in what a provider sends is redacted before the text is kept or shown. It is found verbatim, in base64, and with
characters escaped as in JSON (`\u0073`, `\/`) or as in a URL (`%73`), and so are pieces of it. Nested escapes and other
encodings are not searched.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from agentsim.errors import ScenarioError, UsageError
from agentsim.models.address import is_own_machine
from agentsim.models.profiles import BUILT_IN, Profile, is_own
from agentsim.patterns import Pattern


class Variables(dict[str, str]):
    """An environment, with the variables that the user allows to be sent to any address.

    `unread` has the lines of its files that are not KEY=VALUE, in words.
    """

    def __init__(self, env: Mapping[str, str], allowed: Collection[str] = (), unread: Sequence[str] = ()) -> None:
        super().__init__(env)
        self.allowed, self.unread = frozenset(allowed), tuple(unread)


def environment(env_file: Path | None, allow_key: Collection[str] | None = None) -> Variables:
    """Return the variables of `./.env`, of `env_file` and of the process, the last having priority.

    The variables in `allow_key` may be sent to any address. Parent directories are not searched, since another user's
    file there could redirect a key. Raises `UsageError` if a file cannot be read.
    """
    if env_file is not None and not env_file.is_file():
        raise UsageError(f"--env-file {env_file}: there is no such file")
    merged: dict[str, str] = {}
    unread: list[str] = []
    for path in (Path(".env"), env_file):
        if path is not None and path.is_file():
            from dotenv.parser import parse_stream

            try:
                with path.open(encoding="utf-8") as file:
                    lines = list(parse_stream(file))
            except (OSError, UnicodeDecodeError):
                raise UsageError(f"{path}: cannot be read as UTF-8 text") from None
            merged |= {line.key: line.value for line in lines if line.key is not None and line.value is not None}
            bad = (line.original.line for line in lines if line.error)
            unread += [f"{path}: line {number} is not KEY=VALUE, and is not read" for number in bad]
    return Variables({**merged, **os.environ}, allow_key or (), unread)


def key_for(profile: Profile, env: Mapping[str, str]) -> str | None:
    """Return the key to send, or None if the profile names no variable.

    Raises `ScenarioError` if the key is missing, malformed, or must not be sent to the profile's address. The error
    names the variable, never its value.
    """
    name = variable_for(profile, env)
    if name is None:
        return None
    _check(profile, name, env)
    value = env.get(name, "").strip()
    if not value:
        names = " or ".join(profile.key_envs)
        unread = "; ".join(env.unread) if isinstance(env, Variables) else ""
        needed = f"{profile.provider} needs a key: set {names} in the environment or in ./.env"
        raise ScenarioError(f"{needed} ({unread})" if unread else needed)
    if _QUOTES & {value[0], value[-1]}:  # a shell removes quotes, but env files of containers and services do not
        raise ScenarioError(f"the key in {name} stands in quotes, which are no part of a key: set it without them")
    # Otherwise a line break or an accent would raise an error of the HTTP layer that shows the key.
    if not re.fullmatch(r"[\x21-\x7e]+", value):
        raise ScenarioError(
            f"the key in {name} has characters that keys do not have (a space, a line break, an accent)"
        )
    return value


_QUOTES = frozenset("\"'`´\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2039\u203a«»\uff02\uff07\u300c\u300d")


def variable_for(profile: Profile, env: Mapping[str, str]) -> str | None:
    """Return the variable whose key is sent: the first that is set, else the first; None if the profile names none."""
    return next((name for name in profile.key_envs if env.get(name, "").strip()), next(iter(profile.key_envs), None))


# LAB_KEY, LAB_API_KEY, LAB_TOKEN, LAB_KEY_2
_KEY_NAME = Pattern(r"(?:\w+_)?(?:KEY|APIKEY|TOKEN)(?:_?[0-9]{1,3})?", re.ASCII)
_OPENS = "SECRET PRIVATE PASSWORD PASSPHRASE ACCESS REFRESH SIGNING ENCRYPTION MASTER DEPLOY SESSION WEBHOOK SSH GPG"
_ACCOUNTS = "AWS AZURE GCP CLOUDFLARE VERCEL GITHUB GH GITLAB NPM PYPI CARGO DOCKER HF WANDB VAULT STRIPE SLACK DISCORD"


def _objection(variable: str, address: str) -> str | None:
    """Return why a variable may not be sent to an address without `--allow-key`, or None."""
    name = variable.upper()
    words = set(name.split("_"))
    if owners := [provider for provider, profile in BUILT_IN.items() if name in profile.key_envs]:
        return None if any(is_own(provider, address) for provider in owners) else f"is for {owners[0]} alone"
    if not _KEY_NAME.fullmatch(name) or words & set(_OPENS.split()):
        return "is not a name of a provider's key, such as LAB_KEY or LAB_API_TOKEN"
    if words & set(_ACCOUNTS.split()):
        return "is for an account elsewhere, by its name"
    for provider, profile in BUILT_IN.items():
        if words & {own.partition("_")[0] for own in profile.key_envs}:
            return None if is_own(provider, address) else f"is for {provider} alone"
    return None


def _check(profile: Profile, variable: str, env: Mapping[str, str]) -> None:
    """Raise `ScenarioError` if a variable may not be sent to the profile's address."""
    allowed = env.allowed if isinstance(env, Variables) else frozenset()
    if variable not in allowed and (why := _objection(variable, profile.base_url)) is not None:
        problem = (
            f"{variable} would be sent as a key to {_destination(profile)}: it {why}; --allow-key {variable} allows it"
        )
        raise ScenarioError(problem, key=f"providers.{profile.provider}.api_key_env")


def key_disclosure(profile: Profile, variable: str | None) -> str | None:
    """Return a line that names the key and its destination, or warns of unencrypted prompts, or None."""
    clear = profile.base_url.startswith("http://") and not is_own_machine(profile.base_url)
    if variable is None and not clear:
        return None
    what = f"the key in {variable}" if variable else "every prompt"
    warning = ", unencrypted: others on the way can read it" if clear else ""
    return f"{'warning: ' * clear}{what} goes to {_destination(profile)}, as {profile.provider}{warning}"


def _destination(profile: Profile) -> str:
    parts = urlsplit(profile.base_url)
    return f"{parts.scheme}://{parts.netloc}"


REDACTED = "[redacted]"

_PIECE = 8  # characters: a server that masks a key still shows its ends, so pieces are redacted, too
_LONG_PIECE = 16  # characters: a model's words may overlap with a key like `no-key-required`
_ESCAPES = (r'\\u[0-9A-Fa-f]{4}|\\["\\/]', "%[0-9A-Fa-f]{2}")  # escapes of one character, in JSON and in a URL

_Span: TypeAlias = tuple[int, int]
_Windows: TypeAlias = Mapping[int, tuple[Set[str], Set[str]]]


def redact_reply(text: str, secrets: Sequence[str]) -> str:
    """Redact a model's own words: keys of at least 8 characters, and pieces of at least 16.

    Local servers get keys like `EMPTY`, and redacting those would damage a game's decisions.
    """
    return redact(text, [secret for secret in secrets if len(secret) >= _PIECE], _LONG_PIECE)


def redact(text: str, secrets: Iterable[str], piece: int = _PIECE) -> str:
    """Replace the secrets, and pieces of them of at least `piece` characters, in time linear in the text's length."""
    windows = _windows(frozenset(filter(None, secrets)), piece)
    if not windows:
        return text
    spans = [*_spans(text, windows)]
    for escape in _ESCAPES:
        decoded = re.sub(escape, _decoded, text)
        if decoded != text and (found := [*_spans(decoded, windows)]):
            # start of each decoded character
            offsets = [match.start() for match in re.finditer(f"{escape}|.", text, re.DOTALL)]
            offsets.append(len(text))
            spans += [(offsets[start], offsets[end]) for start, end in found]
    out: list[str] = []
    position = 0
    for start, end in _joined(spans):
        out += text[position:start], REDACTED
        position = end
    return "".join((*out, text[position:]))


def _decoded(escape: re.Match[str]) -> str:
    written = escape[0]
    return written[1:] if len(written) == 2 else chr(int(written.lstrip("\\u%"), 16))


def _forms(secret: str) -> Iterator[str]:
    yield secret
    raw = secret.encode()
    for start in range(3):  # base64 encodes three bytes as four characters, and a key may begin at any of the three
        whole = raw[start : start + (len(raw) - start) // 3 * 3]
        if len(whole) >= 6:  # eight characters; fewer could be a word
            yield b64encode(whole).decode()
            yield urlsafe_b64encode(whole).decode()


@lru_cache(16)  # the secrets are the same for every reply
def _windows(secrets: frozenset[str], piece: int) -> _Windows:
    """Cut the forms of secrets into windows, by size, and into blocks of half a window for a first lookup."""
    windows: dict[int, tuple[set[str], set[str]]] = {}
    for form in (form for secret in secrets for form in _forms(secret)):
        size = min(len(form), piece)
        whole, blocks = windows.setdefault(size, (set(), set()))
        for found, length in ((whole, size), (blocks, (size + 1) // 2)):
            found |= {form[at : at + length] for at in range(len(form) - length + 1)}
    return windows


def _spans(text: str, windows: _Windows) -> Iterator[_Span]:
    """Yield the places of windows in a text. Blocks are looked up first, at steps so small that no window is missed."""
    for size, (whole, blocks) in windows.items():
        block = (size + 1) // 2
        for at in range(0, len(text), size - block + 1):
            if text[at : at + block] in blocks:
                starts = range(max(0, at + block - size), at + 1)
                yield from ((start, start + size) for start in starts if text[start : start + size] in whole)


def _joined(spans: list[_Span]) -> list[_Span]:
    """Sort spans and merge those that touch."""
    joined: list[_Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
