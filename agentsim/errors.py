"""The errors of several modules, by cause.

    AgentsimError
      UsageError           the command line: a name, a path, a flag                     exit 2
        OtherVersion         a file that another version of agentsim wrote
      ScenarioError        the scenario's author: file, key, what was found, what would be valid   exit 2
      DecisionError        the player; each message may be shown to the model
        UnreadableReply      the text contains no decision
        AmbiguousReply       the text contains more than one decision
        IllegalDecision      a decision that is not allowed here
      ModelError           one call to a provider
        TransportFailed      no usable answer came back; trying again may help
        RateLimited          try again later
        RequestRefused       the provider answers, but not this prompt or request; the decision falls back
        ProviderRejected     no call of this model can succeed (key, credit, model); another
                             model takes over, or the run stops
      RunStopped           no mistake: a limit, a provider, a signal; the journal can be resumed
        ProviderStopped      exit 3
        BudgetReached        exit 5
        Interrupted          exit 130 or 143
      JournalError         what the file holds, or rules that changed under it          exit 2
        JournalCorrupt       a line that agentsim cannot have written
        JournalMismatch      the rules ask something else than the journal answers
      LocalShortage        this machine: no file descriptors, no memory; can be resumed      exit 1
      RulesBroken          a bug: an invariant does not hold                               exit 1

A file that cannot be written is a plain `AgentsimError` (exit 1). An error of one module is defined there.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from agentsim.patterns import Pattern

if TYPE_CHECKING:
    from pydantic import ValidationError


_INDEX = Pattern(r"\.[0-9]+(?=\.|$)")


class AgentsimError(Exception):
    """Base of all errors that agentsim raises deliberately. `str()` is one line for people."""

    exit_code: int = 1


class UsageError(AgentsimError):
    """A command line, or a call of the Python API, that cannot be carried out."""

    exit_code = 2


class OtherVersion(UsageError):
    """A file written by another version of agentsim, named in the message, that this version cannot use."""


class ScenarioError(AgentsimError):
    """A scenario that cannot be played as written.

    `key` is the dotted path inside the TOML (`players.0.temperature`) and `where` the file. The engine and the games
    leave `where` out; the scenario layer, which knows the file, adds it.
    """

    exit_code = 2
    MOST = 12
    """The most further errors in the message."""

    def __init__(self, problem: str, *, key: str = "", where: str = "", valid: str = "") -> None:
        super().__init__(problem)
        self.problem, self.key, self.where, self.valid = problem, key, where, valid
        self.others: tuple[ScenarioError, ...] = ()

    def placed(self, *, key: str = "", where: str = "") -> ScenarioError:
        """Return the same error with `key` and `where` filled in if it has none."""
        made = ScenarioError(self.problem, key=self.key or key, where=self.where or where, valid=self.valid)
        made.others = tuple(other.placed(key=key, where=where) for other in self.others)
        return made

    def __str__(self) -> str:
        more = len(self.others) - self.MOST
        said, lists = [self._words(self.where)], {self.valid}
        for other in self.others[: self.MOST]:
            said.append(other._words("", bare=other.valid in lists))
            lists.add(other.valid)
        return "; ".join([*said, f"and {more} more"] if more > 0 else said)

    def _words(self, where: str, *, bare: bool = False) -> str:
        """Return the message of this error alone; with `bare`, without the valid values."""
        location = ": ".join(part for part in (where, self.key) if part)
        text = f"{location}: {self.problem}" if location else self.problem
        return f"{text} (valid: {self.valid})" if self.valid and not bare else text


class ErrorCollector:
    """A collector of errors from several steps, so that one `ScenarioError` names them all."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[ScenarioError]] = {}

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Context manager of one step, which collects its error so that the next step runs."""
        try:
            yield
        except ScenarioError as error:
            self.note(error)

    def note(self, error: ScenarioError) -> None:
        """Add an error and those it carries. Errors that differ only in a list index are told once."""
        for each in (error, *error.others):
            alike = self._found.setdefault((each.problem, _INDEX.sub("", each.key)), [])
            if each.key not in {other.key for other in alike}:
                alike.append(each)

    def raised(self) -> None:
        """Raise the collected errors as one `ScenarioError`, if there are any."""
        if self._found:
            for alike in self._found.values():  # a hundred players may miss the same key
                alike[0].key += f" and {len(alike) - 1} more" if len(alike) > 1 else ""
            first, *others = (alike[0] for alike in self._found.values())
            first.others = tuple(others)
            raise first from None


class DecisionError(AgentsimError):
    """A reply that the rules cannot use as a decision. The message may be shown to a model."""

    code: ClassVar[str]


class UnreadableReply(DecisionError):
    """A reply that contains no decision."""

    code = "unreadable"


class AmbiguousReply(DecisionError):
    """A reply that can be read as more than one decision."""

    code = "ambiguous"


class IllegalDecision(DecisionError):
    """A clear decision that is not allowed in this state."""

    code = "illegal"


class ModelError(AgentsimError):
    """A failed call to a provider.

    `code` is a short stable word for the history (`timeout`, `unreachable`, `http_500`); `status` is the HTTP status,
    or None. The message never contains headers or keys, and at most 300 characters of the provider's text. `usage` is
    the `models.base.Usage` of a failed call that was billed, if the provider reports it. `served_by` is the host behind
    a router, if the error names it.
    """

    usage: object = None
    served_by: str | None = None

    def __init__(self, message: str, *, code: str, status: int | None = None) -> None:
        super().__init__(message)
        self.code, self.status = code, status


class TransportFailed(ModelError):
    """A call without a usable answer: timeout, refused connection, reset, 5xx, a body that is not a completion.

    `retry_after` is the wait in seconds that the host asks for (with a 503), or None.
    """

    def __init__(self, message: str, *, code: str, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, code=code, status=status)
        self.retry_after = retry_after


class RateLimited(ModelError):
    """A call that the provider rejects for now. `retry_after` is the wait in seconds, or None if not stated."""

    def __init__(self, message: str, *, retry_after: float | None = None, status: int | None = 429) -> None:
        super().__init__(message, code="rate_limited", status=status)
        self.retry_after = retry_after


class RequestRefused(ModelError):
    """A call that the provider answers but refuses: content filter, refusal, context too long, request not accepted."""


class ProviderRejected(ModelError):
    """A failure of all calls of this kind: bad key, no credit, unknown model, wrong address."""


class RunStopped(AgentsimError):
    """A run that ends before its game does. Its journal can be resumed."""

    status: ClassVar[str]


class ProviderStopped(RunStopped):
    """A provider that cannot be used.

    Its first call failed, five decisions in a row got no answer or the same refusal, it rejects calls, or it twice
    asked for more time than a decision has.
    """

    exit_code = 3
    status = "stopped_provider"


class BudgetReached(RunStopped):
    """A limit of the scenario that the next call would exceed."""

    exit_code = 5
    status = "stopped_budget"


class Interrupted(RunStopped):
    """A request by a person or the system to stop the run, by the signal `signal_number`."""

    status = "interrupted"

    def __init__(self, message: str = "interrupted", *, signal_number: int = 2) -> None:
        super().__init__(message)
        self.signal_number, self.exit_code = signal_number, 128 + signal_number


class JournalError(AgentsimError):
    """A journal that cannot be used for what was asked."""

    exit_code = 2


class JournalCorrupt(JournalError):
    """A line of the journal that agentsim cannot have written. `line` counts from 1."""

    def __init__(self, message: str, *, line: int) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


class JournalMismatch(JournalError):
    """Rules that ask something else than the journal answers: the game's code or scenario changed."""


class LocalShortage(AgentsimError):
    """A lack of file descriptors or memory on this machine: no call was made, and none failed."""


class RulesBroken(AgentsimError):
    """An invariant of a game that does not hold: a bug in agentsim or in the game."""


DISTRIBUTION = "agentsim-games"
"""The name of the distribution. `agentsim` is another project's name on the registry."""


def installed_by(extra: str) -> str:
    """Return the command that installs an extra, for the way in which agentsim is installed here."""
    origin = _origin()
    if origin is None:
        return f"`uv sync --extra {extra}` or `pip install '.[{extra}]'` in the checkout"
    wanted = f"'{DISTRIBUTION}[{extra}]{origin}'"
    prefix = Path(sys.prefix)
    if "archive-v0" in prefix.parts or "environments-v2" in prefix.parts:  # uv's cache of environments
        return f"`uvx --from {wanted} agentsim ...`"
    if prefix.parent.name == "tools" and prefix.parent.parent.name == "uv":
        return f"`uv tool install --force {wanted}`"
    if prefix.parent.name == "venvs" and prefix.parent.parent.name == "pipx":
        return f"`pipx install --force {wanted}`"
    try:
        by_uv = "\nuv = " in (prefix / "pyvenv.cfg").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        by_uv = False
    return f"`{'uv ' * by_uv}pip install {wanted}`"


def _origin() -> str | None:
    """Return ` @ URL` of the file or repository that the distribution was installed from, "" for one of an index.

    Returns None for a checkout that is used in place.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution(DISTRIBUTION).read_text("direct_url.json")
        found = json.loads(text) if text else {}
    except (PackageNotFoundError, ValueError):
        return None
    if found.get("dir_info", {}).get("editable"):
        return None
    url, vcs = found.get("url"), found.get("vcs_info", {}).get("vcs")
    return f" @ {f'{vcs}+' if vcs else ''}{url}" if url else ""


_KERNEL = tuple(str(Path(__file__).parent / part) for part in ("engine", "testing"))


def location_of(error: BaseException) -> str:
    """Return where code of a game or of agentsim raised an error: `FILE:LINE, in FUNCTION`.

    It is the innermost frame outside of the kernel and the checks.
    """
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(_KERNEL)]
    frame = (theirs or frames)[-1]
    return f"{frame.filename}:{frame.lineno}, in {frame.name}"


@contextmanager
def needed_by(what: str) -> Iterator[None]:
    """Context manager that turns an `ImportError` into a `UsageError` that names the extra `analysis`."""
    try:
        yield
    except ImportError:
        raise UsageError(f"{what} needs the extra analysis: {installed_by('analysis')}") from None


def first_objection(error: ValidationError) -> tuple[str, str]:
    """Return the dotted path of pydantic's first error ("" for the whole) and its message.

    The message repeats no part of the input, which may be foreign text.
    """
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
