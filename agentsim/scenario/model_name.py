"""ModelName: what a `model = "..."` of the scenario names. Whether it exists is not asked here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

__all__ = ["OWN", "PROVIDER", "ModelName", "is_provider", "prefixed"]

SHAPE = (
    "must be provider/model such as openai/gpt-5-mini, bot/<policy>, human, script:<file> or local/<model>; "
    "--provider P puts P/ before every model name"
)

PROVIDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
OWN = "python:"
"""Before the name of a model that a Python program passes; the program may leave it out."""
_AS_IT_IS = ("bot/", "script:", "local/", OWN)


@dataclass(frozen=True, slots=True)
class ModelName:
    """A name taken apart: `provider` is the first segment of a remote model and empty for the other kinds.

    An `own` model is an object that a Python program passes under the name `rest`.
    """

    kind: Literal["bot", "human", "script", "local", "remote", "own"]
    rest: str
    provider: str = ""

    @classmethod
    def parse(cls, text: str) -> ModelName:
        """The parts of `text`; `ValueError` with the shapes there are."""
        if text == "human":
            return cls("human", "")
        for kind, start in (("bot", "bot/"), ("script", "script:"), ("local", "local/"), ("own", OWN)):
            rest = text.removeprefix(start)
            if rest and rest != text and rest.isprintable() and rest.strip() == rest:
                return cls(kind, rest)  # type: ignore[arg-type]  # mypy widens the tuple's literals to str
        provider, _, rest = text.partition("/")
        if not (is_provider(provider) and rest and rest.isprintable() and not re.search(r"\s", rest)):
            raise ValueError(SHAPE)
        return cls("remote", rest, provider)

    @property
    def gguf(self) -> bool:
        """Whether a file of weights is named, rather than an embedded model."""
        return self.kind == "local" and self.rest.lower().endswith(".gguf")

    @property
    def file(self) -> str | None:
        """The path in the name, where there is one."""
        return self.rest if self.kind == "script" or self.gguf else None


def is_provider(name: str) -> bool:
    """Whether a model's name that begins with it, and a slash, is that of a remote model."""
    return PROVIDER.fullmatch(name) is not None and name not in {"bot", "human", "script", "local"}


def prefixed(name: str, provider: str) -> str:
    """The name under `--provider`: bots, people, scripts and embedded models stay as they are."""
    return name if name == "human" or name.startswith(_AS_IT_IS) else f"{provider}/{name}"
