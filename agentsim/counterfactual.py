"""What a change or a message did, by branches of a run: `agentsim.compare` and `agentsim.influence`.

Finding and swapping messages is `runner.player_message`; what listeners did then, and effects, are
`analysis.influence` and `analysis.arms`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from agentsim.api import Folder, Models, played, variables
from agentsim.engine.prompt import cleaned
from agentsim.errors import UsageError, needed_by
from agentsim.history.journal import read_journal
from agentsim.history.load import load_history
from agentsim.history.record import CONTROL
from agentsim.history.run_files import RunFiles, find_run
from agentsim.results import logs_folder
from agentsim.runner.drive import played_again
from agentsim.runner.fork import Wanted
from agentsim.runner.player_message import PlayerMessage, Swap, messages
from agentsim.runner.plays import new_play, restored_scenario
from agentsim.runner.replay import over
from agentsim.runner.session import Session

if TYPE_CHECKING:
    from agentsim.analysis.arms import Comparison
    from agentsim.analysis.influence import BranchResult, Influence

BRANCHES = 20
"""How many branches a side has where it is not said."""


async def influence(
    name: str,
    *,
    at: int,
    swap: Swap | None = None,
    words: str | None = None,
    each: bool = False,
    branches: int = BRANCHES,
    max_cost_usd: float | None = None,
    logs_dir: Folder = None,
    models: Models | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
) -> list[Influence]:
    """What the message of a run's decision `at` did to its listeners and to the outcome (extra `analysis`).

    `branches` are played in which it is said and as many in which it is swapped: for silence (by default, where the
    request has it), for `neutral` words of its length, or for `words`. With `each` so is every player's such message
    of that round: one `Influence` a message. `max_cost_usd` holds for each branch. The same call goes on where one
    ended. Raises as `fork`, and `UsageError` where the decision says nothing to another player.
    """
    files = find_run(logs_folder(logs_dir), name)
    study = MessageStudy.of(files, at, swap=swap, words=words, each=each, branches=branches)
    for wanted in study.wanted:
        session = wanted.come_by(env=variables(env, allow_keys), limits={"max_cost_usd": max_cost_usd}, own=models)
        if isinstance(session, Session):
            await played(session)
    return study.measured()


def compare(
    name: str, *, at: int | None = None, control: str = CONTROL, effect: float | None = None, logs_dir: Folder = None
) -> Comparison:
    """What the arms of a forked run do otherwise than its control, branch k beside branch k (extra `analysis`).

    `at` is the decision that was made anew, where arms leave the run at several. With an `effect`, each row says how
    many branches one of that size needs. Raises `UsageError` where there are no arms to compare.
    """
    with needed_by("comparing arms"):
        from agentsim.analysis.arms import comparison
    return comparison(logs_folder(logs_dir), name, at=at, control=control, effect=effect)


@dataclass(frozen=True)
class MessageStudy:
    """What is asked: messages, each with its other arm, and how many branches a side."""

    messages: tuple[PlayerMessage, ...]
    branches: int

    @classmethod
    def of(
        cls,
        files: RunFiles,
        at: int,
        *,
        swap: Swap | None = None,
        words: str | None = None,
        each: bool = False,
        branches: int = BRANCHES,
    ) -> MessageStudy:
        """Raises `UsageError` where decision `at` says nothing to another player, or cannot be without its words."""
        if swap is not None and words is not None:
            raise UsageError("--words: take the place of the message themselves; leave out --swap")
        if swap not in {None, *get_args(Swap)}:
            raise UsageError(f"--swap: there is no {swap!r} (valid: {', '.join(get_args(Swap))})")
        with needed_by("influence"):
            import agentsim.analysis.influence  # noqa: F401 - before a branch is paid for that could not be compared
        found = messages(files, at, each=each)
        return cls(
            tuple(message.swapped(swap, None if words is None else cleaned(words)) for message in found), branches
        )

    @property
    def wanted(self) -> list[Wanted]:
        """Every branch, with its files where it is there."""
        return [wanted for message in self.messages for wanted in message.wanted(self.branches)]

    def measured(self) -> list[Influence]:
        """What each message did, by the branches that are finished."""
        from agentsim.analysis.influence import Swapped, influences

        found = []
        for message in self.messages:
            sides: tuple[dict[int, BranchResult], dict[int, BranchResult]] = ({}, {})
            for wanted in message.wanted(self.branches):
                if wanted.files is not None and (followed := _followed(message, wanted.files)) is not None:
                    sides[wanted.options["arm"] == message.arm][wanted.options["number"]] = followed
            swapped = Swapped(
                of=message.parent.files.name,
                at=message.parent.ask.index,
                game=message.parent.game.name,
                speaker=message.parent.ask.request.player,
                kind=message.kind,
                round=message.round,
                words=message.words_of(message.decision),
                swap=message.arm,
                instead=message.words_of(message.instead),
                listeners=message.listeners,
            )
            found.append((swapped, sides))
        return influences(found)


def _followed(message: PlayerMessage, files: RunFiles) -> BranchResult | None:
    """What followed from the message in a branch; None of one that is not finished."""
    from agentsim.analysis.finished_games import Measures
    from agentsim.analysis.game_records import game_record
    from agentsim.analysis.influence import BranchResult, responses

    if not over(files) or not files.history.is_file():
        return None
    history, at = load_history(files.history), message.parent.ask.index
    if (record := game_record(files.name, history)) is None:
        return None
    recorded = read_journal(files.journal)
    play = new_play(*restored_scenario(recorded), recorded)
    found = responses(
        played_again(play, recorded),
        play.log,
        heard=message.heard,
        speaker=message.parent.ask.request.player,
        listeners=message.listeners,
    )
    results = Measures.of(record).results
    decided = [(each.player, each.kind, each.decision) for each in history.decisions if each.index != at]
    return BranchResult(found, results, (decided, results))
