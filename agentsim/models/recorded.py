"""Recorded: a line of a cassette as it must be, so that one that is not is found before the game begins.

Which line answers a call is `cassette`'s business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from agentsim.errors import ModelError, ModelRefused, ProviderRejected, RateLimited, TransportFailed, first_objection
from agentsim.models.base import Completion, Usage

__all__ = ["Line", "error_to_json", "line_in"]

_ERRORS: Mapping[str, type[ModelError]] = {
    kind.__name__: kind for kind in (TransportFailed, RateLimited, ModelRefused, ProviderRejected)
}


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half a character") from None  # which no file of ours could hold
    return text


_Text = Annotated[str, AfterValidator(_whole)]
_Tokens = Annotated[int, Field(ge=0, lt=10**12)]
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Dollars = Annotated[float, Field(ge=0, lt=1e9, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


class _Usage(_Part):
    prompt_tokens: _Tokens | None
    cached_tokens: _Tokens | None
    completion_tokens: _Tokens | None
    reasoning_tokens: _Tokens | None
    cost_usd: _Dollars | None

    def usage(self) -> Usage:
        return Usage(**self.model_dump())


class _Reply(_Part):
    text: _Text
    reasoning: _Text | None = None
    finish_reason: _Text | None = None
    model: _Text | None = None
    provider: _Text | None = None
    usage: _Usage
    refusal: _Text | None = None
    unusable: _Text | None = None
    structured: _Text | None = None


class _Error(_Part):
    kind: Literal["TransportFailed", "RateLimited", "ModelRefused", "ProviderRejected"]
    message: _Text
    code: _Text
    status: int | None
    retry_after: _Seconds | None = None
    usage: _Usage | None = None


class _Sent(_Part):
    messages: list[_Text]
    schema_: _Text = Field(alias="schema")
    temperature: float | None
    max_tokens: int | None
    extra: _Text
    provider: dict[_Text, _Text] | None = None


class Line(_Part):
    """The completion or the error that answered a call to `model`; `call` is its tag, `sent` digests of it."""

    model: _Text
    call: _Text = Field(pattern=r"^[^/].*/[^/]+/[0-9]+/[0-9]+$")
    sent: _Sent
    reply: _Reply | None = None
    error: _Error | None = None

    @model_validator(mode="after")
    def _one_answer(self) -> Self:
        if (self.reply is None) == (self.error is None):
            raise ValueError("must have either `reply` or `error`")
        return self

    def answer(self) -> Completion:
        """The completion that was recorded; raises the error if that is what came."""
        if self.error is not None:
            error = _error(self.error)
            error.usage = None if self.error.usage is None else self.error.usage.usage()
            raise error
        assert self.reply is not None, "one of the two is there"
        return Completion(**self.reply.model_dump(exclude={"usage"}), usage=self.reply.usage.usage())


def line_in(value: Any) -> Line:
    """The line that decoded JSON is; `ValueError` in a few words where it is none."""
    try:
        return Line.model_validate(value)
    except ValidationError as error:
        where, why = first_objection(error)
        raise ValueError(f"{where}: {why}" if where else why) from None


def error_to_json(error: ModelError) -> dict[str, Any]:
    """An error as it is recorded."""
    out: dict[str, Any] = {
        "kind": type(error).__name__,
        "message": str(error),
        "code": error.code,
        "status": error.status,
    }
    if isinstance(error, RateLimited | TransportFailed):
        out["retry_after"] = error.retry_after
    if isinstance(error.usage, Usage):
        out["usage"] = asdict(error.usage)
    return out


def _error(line: _Error) -> ModelError:
    if line.kind == "RateLimited":
        return RateLimited(line.message, retry_after=line.retry_after, status=line.status)
    if line.kind == "TransportFailed":
        return TransportFailed(line.message, code=line.code, status=line.status, retry_after=line.retry_after)
    return _ERRORS[line.kind](line.message, code=line.code, status=line.status)
