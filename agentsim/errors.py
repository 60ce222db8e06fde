"""Every error agentsim raises on purpose, by whose fault it is.

    AgentsimError
      UsageError           the command line: a name, a path, a flag                     exit 2
        OtherVersion         a file that another version of agentsim wrote
      ScenarioError        the scenario's author: file, key, what was found, what would be valid   exit 2
      DecisionError        the player; each is fit to be shown to the model
        UnreadableReply      no decision can be found in the text
        AmbiguousReply       more than one decision can be found
        IllegalDecision      a decision, but not one that is allowed here
      ModelError           one call to a provider
        TransportFailed      no usable answer came back; trying again may help
        RateLimited          come back later
        ModelRefused         the provider answers, but not this prompt or request; the decision falls back
        ProviderRejected     no call can succeed (key, credit, model); the run stops
      RunStopped           not a mistake: a limit, a provider, a signal; the journal is resumable
        ProviderStopped      exit 3
        BudgetReached        exit 5
        Interrupted          exit 130 or 143
      JournalError         the file, or rules that changed under it                     exit 2
        JournalCorrupt       a line that cannot be what was written
        JournalMismatch      the rules ask something else than the journal answers
      LocalShortage        this machine: no file descriptors, no memory; resumable      exit 1
      RulesBroken          us: an invariant does not hold                               exit 1

What does not belong here: messages for one place only, and anything with a traceback in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pydantic import ValidationError


_INDEX = re.compile(r"\.[0-9]+(?=\.|$)")


class AgentsimError(Exception):
    """Any error agentsim raises on purpose; `str()` is one line for a person."""

    exit_code: int = 1


class UsageError(AgentsimError):
    """The command line asks for something that cannot be."""

    exit_code = 2


class OtherVersion(UsageError):
    """A file was written by another version of agentsim, which the message names, and this one cannot use it."""


class ScenarioError(AgentsimError):
    """The scenario cannot be played as written.

    `key` is the dotted path inside the TOML (`players.0.temperature`), `where` the file. The engine and
    the games raise it without `where`; the scenario layer, which knows the file, adds it.
    """

    exit_code = 2
    MOST = 12
    """Others that are named behind the first."""

    def __init__(self, problem: str, *, key: str = "", where: str = "", valid: str = "") -> None:
        super().__init__(problem)
        self.problem, self.key, self.where, self.valid = problem, key, where, valid
        self.others: tuple[ScenarioError, ...] = ()

    def placed(self, *, key: str = "", where: str = "") -> ScenarioError:
        """The same error, with these where it has none of its own."""
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
        """`bare` without what is valid, which was said before."""
        place = ": ".join(part for part in (where, self.key) if part)
        text = f"{place}: {self.problem}" if place else self.problem
        return f"{text} (valid: {self.valid})" if self.valid and not bare else text


class Refusals:
    """Collects what several steps find wrong with a scenario, so that all of it is named at once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[ScenarioError]] = {}

    @contextmanager
    def noted(self) -> Iterator[None]:
        """A step; the next one is taken even where this one fails."""
        try:
            yield
        except ScenarioError as error:
            self.note(error)

    def note(self, error: ScenarioError) -> None:
        """One mistake, and what was found with it; that of many list entries is told once."""
        for each in (error, *error.others):
            alike = self._found.setdefault((each.problem, _INDEX.sub("", each.key)), [])
            if each.key not in {other.key for other in alike}:
                alike.append(each)

    def raised(self) -> None:
        """Raise what was found, as one `ScenarioError`."""
        if self._found:
            for alike in self._found.values():  # one key that is missing may be that of a hundred players
                alike[0].key += f" and {len(alike) - 1} more" if len(alike) > 1 else ""
            first, *others = (alike[0] for alike in self._found.values())
            first.others = tuple(others)
            raise first from None


class DecisionError(AgentsimError):
    """A player's reply is not a decision the rules can use; the message is fit to be shown to a model."""

    code: ClassVar[str]


class UnreadableReply(DecisionError):
    """No decision can be found in the reply."""

    code = "unreadable"


class AmbiguousReply(DecisionError):
    """The reply can be read as more than one decision."""

    code = "ambiguous"


class IllegalDecision(DecisionError):
    """The decision is clear but not allowed in this state."""

    code = "illegal"


class ModelError(AgentsimError):
    """One call to a provider failed.

    `code` is a short stable word for the history (`timeout`, `unreachable`, `http_500`); `status` the HTTP
    status where there was one. The message never holds headers, keys or more than 300 foreign characters. `usage` is
    the `models.base.Usage` of a call that was paid for all the same, where the provider says so, and `served_by` the
    host behind a router that the error names.
    """

    usage: object = None
    served_by: str | None = None

    def __init__(self, message: str, *, code: str, status: int | None = None) -> None:
        super().__init__(message)
        self.code, self.status = code, status


class TransportFailed(ModelError):
    """Nothing usable came back: timeout, refused connection, reset, 5xx, a body that is no completion.

    `retry_after` are the seconds after which the host wants to be asked again, where it says so (with a 503).
    """

    def __init__(self, message: str, *, code: str, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, code=code, status=status)
        self.retry_after = retry_after


class RateLimited(ModelError):
    """The provider asks to wait; `retry_after` in seconds where it says how long."""

    def __init__(self, message: str, *, retry_after: float | None = None, status: int | None = 429) -> None:
        super().__init__(message, code="rate_limited", status=status)
        self.retry_after = retry_after


class ModelRefused(ModelError):
    """The provider answers, but not to this request: content filter, refusal, context too long, not accepted."""


class ProviderRejected(ModelError):
    """No call of this kind can succeed: bad key, no credit, unknown model, wrong address."""


class RunStopped(AgentsimError):
    """The run ends before the game does; its journal can be resumed."""

    status: ClassVar[str]


class ProviderStopped(RunStopped):
    """A provider cannot be used: its first call failed, five decisions in a row got no answer, or it rejects us."""

    exit_code = 3
    status = "stopped_provider"


class BudgetReached(RunStopped):
    """A limit of the scenario would be passed by the next call."""

    exit_code = 5
    status = "stopped_budget"


class Interrupted(RunStopped):
    """A person or the system asked the run to stop; `signal_number` says which way."""

    status = "interrupted"

    def __init__(self, message: str = "interrupted", *, signal_number: int = 2) -> None:
        super().__init__(message)
        self.signal_number, self.exit_code = signal_number, 128 + signal_number


class JournalError(AgentsimError):
    """The journal cannot be used for what was asked."""

    exit_code = 2


class JournalCorrupt(JournalError):
    """A line of the journal cannot be what agentsim wrote; `line` counts from 1."""

    def __init__(self, message: str, *, line: int) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


class JournalMismatch(JournalError):
    """The rules ask something else than the journal answers: the game's code or scenario changed."""


class LocalShortage(AgentsimError):
    """This machine has no connection to give (file descriptors, memory): no call was made, and none failed."""


class RulesBroken(AgentsimError):
    """An invariant of a game does not hold: a mistake of ours or of a game's author."""


DISTRIBUTION = "agentsim-games"
"""What the package is called for installers; `agentsim` is another project's name on the registry."""


def installed_by(extra: str) -> str:
    """How an extra is installed, in words; the package is on no registry yet."""
    return f"`uv sync --extra {extra}` or `pip install '.[{extra}]'` in the checkout"


@contextmanager
def needed_by(what: str) -> Iterator[None]:
    """Turns an import that fails within into the `UsageError` that names the extra `analysis`."""
    try:
        yield
    except ImportError:
        raise UsageError(f"{what} needs the extra analysis: {installed_by('analysis')}") from None


def first_objection(error: ValidationError) -> tuple[str, str]:
    """Where the first thing stands that pydantic objects to, dotted ("" for the whole), and its words.

    The message repeats nothing of the input, which may be foreign text.
    """
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
