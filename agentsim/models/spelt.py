"""Spelt: the part of many bodies that is the same in all of them, written as JSON once: a question's schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

__all__ = ["Spelt", "json_of"]


class Spelt(dict[str, Any]):
    """An object that nobody changes, with its JSON; whoever merges something into it makes a plain one."""

    def __init__(self, value: Mapping[str, Any]) -> None:
        super().__init__(value)
        self.json = to_json(value)


def json_of(body: Mapping[str, Any]) -> bytes:
    """The JSON of a request's body, as `pydantic_core.to_json` writes it.

    Of what a scenario puts in, nothing is without a word in JSON: it was looked at then.
    """
    members = (
        to_json(key) + b":" + (value.json if isinstance(value, Spelt) else to_json(value))
        for key, value in body.items()
    )
    return b"{" + b",".join(members) + b"}"
