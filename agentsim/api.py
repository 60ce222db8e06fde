"""The Python API: games, batches and studies played from Python.

Each coroutine plays a run (`runs.run.Run`) in the running event loop. The command line and the server play the same
runs, with signal handlers or a page. `results` loads recorded runs. Studies are imported on first use: they need the
extra `analysis`, and importing them takes a second.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import tempfile
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from functools import wraps
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, TypeVar

from agentsim.engine.event import LoggedEvent
from agentsim.errors import AgentsimError, Interrupted, UsageError, needed_by
from agentsim.models.keys import Variables, environment
from agentsim.models.own import OwnModel
from agentsim.records.history import CONTROL, FINISHED, EventRecord
from agentsim.records.journal import read_journal
from agentsim.records.load import again_with, named_run, require_folder, run_place
from agentsim.records.run_files import is_running
from agentsim.results import RecordedRun, RecordedRuns, logs_folder, run_in
from agentsim.results import load as load_results
from agentsim.runs.fork import BranchJob, Change, concurrent_branches, jobs_of_arm, kinds_of_models, play_concurrently
from agentsim.runs.player_message import Swap
from agentsim.runs.replay import Proof, prove
from agentsim.runs.run import Run, RunOptions, RunResult, create_run
from agentsim.runs.watcher import Watcher
from agentsim.scenario.load import Overrides, Source
from agentsim.scenario.scenario import LimitOverrides

if TYPE_CHECKING:
    from agentsim.analysis.arms import Comparison
    from agentsim.studies.coding import Coding
    from agentsim.studies.folder_report import Report
    from agentsim.studies.influence import Influence
    from agentsim.studies.plan import Plan
    from agentsim.studies.rating import Rating

_P = ParamSpec("_P")
_T = TypeVar("_T")
OnEvent: TypeAlias = Callable[[EventRecord], object]
"""A callback for each event as it happens, in the loop that plays. An exception in it ends the run."""
Folder: TypeAlias = str | os.PathLike[str] | None
"""The folder of runs. None stands for `AGENTSIM_LOGS_DIR`, or else `logs`."""
Models: TypeAlias = Mapping[str, OwnModel]
"""The program's own models, by the names that the scenario gives them: `model = "mine"`."""


async def run(
    scenario: Source,
    *,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    name: str | None = None,
    logs_dir: Folder = None,
    on_event: OnEvent | None = None,
    models: Models | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
    max_cost_usd: float | None = None,
    allow_dirs: Sequence[str | os.PathLike[str]] = (),
) -> RecordedRun:
    """Play a game to its end and write its journal and history to `logs_dir`.

    `set` sets values at dotted keys of the scenario (`{"players.0.temperature": 0.2}`). Keys come from `env`, by
    default the process's environment and `./.env`; variables in `allow_keys` may be sent to any address in the
    scenario. Several runs may be played at once. A canceled run can be resumed. A run with too many fallbacks is
    returned with status `degraded`.

    Raises `ScenarioError` before any file is written, and `ProviderStopped` or `BudgetReached` if the run was stopped
    and can be resumed; the notes of the error say how.
    """
    created = create_run(
        scenario,
        logs_folder(logs_dir),
        RunOptions(variables(env, allow_keys), _Listening(on_event), own=models or {}),
        name=name,
        overrides=set or {},
        seed=seed,
        max_cost_usd=max_cost_usd,
        allow_dirs=allow_dirs,
    )
    return recorded_run(await created.play())


def _waiting(play: Callable[_P, Coroutine[Any, Any, _T]], name: str, doc: str) -> Callable[_P, _T]:
    """Return a blocking function from a coroutine function, with the same arguments and another name."""
    signature = inspect.signature(play)

    @wraps(play)
    def waiting(*args: _P.args, **options: _P.kwargs) -> _T:
        try:
            signature.bind(*args, **options)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(play(*args, **options))
        raise UsageError(f"an event loop is running here, as in a notebook: `await agentsim.{play.__name__}(...)`")

    waiting.__name__ = waiting.__qualname__ = name
    waiting.__doc__ = doc
    return waiting


run_sync = _waiting(
    run,
    "run_sync",
    """`run` for programs without an event loop, with the same arguments; Ctrl-C leaves a run to resume.

    Raises `UsageError`, and writes nothing, where a loop is running, as in a notebook: `await agentsim.run(...)` there.
    """,
)


async def resume(
    name: str,
    *,
    logs_dir: Folder = None,
    on_event: OnEvent | None = None,
    models: Models | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
    max_cost_usd: float | None = None,
    max_calls: int | None = None,
    max_wall_s: float | None = None,
) -> RecordedRun:
    """Continue a run where its journal ends, without paying for any call twice. A finished run is returned unchanged.

    The limits given here replace the run's own. Raises as `run`, and `JournalError` for a journal that cannot be used.
    """
    files = named_run(name, logs_folder(logs_dir))
    options = RunOptions(variables(env, allow_keys), _Listening(on_event), own=models or {})
    limits = LimitOverrides(max_cost_usd, max_calls, max_wall_s)
    return recorded_run(await Run.open(files, options, limits).play())


async def fork(
    name: str,
    *,
    at: int,
    instead: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    another: bool = False,
    paired: bool = False,
    new_name: str | None = None,
    logs_dir: Folder = None,
    on_event: OnEvent | None = None,
    models: Models | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
) -> RecordedRun:
    """Play a run again from its decision number `at`, as a new run beside it.

    Earlier decisions are kept and not paid for again. `instead` is the decision to take at `at`; `set` changes players,
    staff, prices or providers from there on. With `another`, the branch gets a number, and its own random numbers after
    the decision unless `paired`. Raises as `run`, and `UsageError` if the decision does not exist or is not allowed.
    """
    options = RunOptions(variables(env, allow_keys), _Listening(on_event), own=models or {})
    point = Run.open(named_run(name, logs_folder(logs_dir)), options).fork(at)
    branch = point.branch(options, _change(instead, set), of_several=another, paired=paired, name=new_name)
    return recorded_run(await branch.play())


async def fork_arm(
    name: str,
    *,
    at: int,
    arm: str,
    branches: int,
    instead: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    jobs: int | None = None,
    logs_dir: Folder = None,
    models: Models | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
) -> list[RecordedRun]:
    """Play branches 1 to `branches` of an arm and of its control, `jobs` at once; `compare` compares them.

    By default 8 branches of models are played at once, or 1 if only bots, a person or an embedded model play. Branch k
    of both uses the same random numbers. Repeating the call continues an incomplete arm. Raises as `fork`.
    """
    options = RunOptions(variables(env, allow_keys), own=models or {})
    point = Run.open(named_run(name, logs_folder(logs_dir)), options).fork(at)
    planned = jobs_of_arm(point, arm, branches, _change(instead, set))
    return await _branches(planned, jobs, lambda job: job.run(options))


async def _branches(
    planned: Sequence[BranchJob], jobs: int | None, opened: Callable[[BranchJob], Run]
) -> list[RecordedRun]:
    """Play branches, `jobs` at once, and return them in their order. Raises the error that stopped one."""
    order: dict[str, int] = {}
    played: dict[int, RecordedRun] = {}
    watcher = Watcher()

    def counted(job: BranchJob) -> Run:
        branch = opened(job)
        order[branch.files.name] = len(order)
        return branch

    def ended(result: RunResult) -> None:
        played[order[result.files.name]] = recorded_run(result)

    for job in planned:
        if job.running and job.files is not None:
            raise UsageError(f"{job.files.name}: is being played by another process")
    concurrency = concurrent_branches(kinds_of_models(planned), jobs)
    await play_concurrently(planned, counted, ended, concurrency=concurrency, noted=watcher.noted)
    return [played[place] for place in sorted(played)]


def replay(name: str, *, logs_dir: Folder = None) -> Proof:
    """Prove a history: play its journal again, without network access, and compare.

    Raises `ReplayDiffers` or another `AgentsimError` if the journal and the history do not match.
    """
    files = named_run(name, logs_folder(logs_dir))
    ((_, proof),) = proofs(files.name, files.directory)
    return proof


def proofs(source: str, logs_dir: Path) -> Iterator[tuple[str, Proof]]:
    """Yield the name and the proof of a run, or of each run in a bundle.

    A bundle is unpacked into a folder that is removed afterwards. Raises as `prove`, and `UsageError` for a run that is
    being played or has no history.
    """
    if source.endswith(".zip"):
        from agentsim.records.bundle import unpack  # slow to import, and rarely needed

        with tempfile.TemporaryDirectory(prefix="agentsim-") as folder:
            for files in unpack(Path(source), Path(folder)).runs:
                yield files.name, prove(files)
        return
    files = named_run(source, logs_dir)
    if is_running(files.journal):
        raise UsageError(f"{files.name}: is being played now; it can be proved when it has ended")
    if not files.history.is_file():
        read_journal(files.journal)  # an unusable journal is the more important error
        raise UsageError(f"{files.name}: there is no history to prove; `{again_with(files)}` ends the run")
    yield files.name, prove(files)


async def batch(
    scenario: Source | None = None,
    *,
    games: int | None = None,
    design: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    until: Mapping[str, Any] | None = None,
    models: Sequence[str] = (),
    rotate: bool = False,
    paired: bool = False,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    out: Folder = None,
    logs_dir: Folder = None,
    jobs: int | None = None,
    abort_after: int = 5,
    own_models: Models | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
    max_cost_usd: float | None = None,
) -> RecordedRuns:
    """Play many games of a scenario in a folder, `jobs` at once. Repeating the call continues an incomplete batch.

    `models` take the seats in turn; `rotate` rotates the players through the seats; `paired` gives the same seed to
    games that differ only in the seating. In a `design` (a file or its content) all cells are played with each seed,
    and `until={"width": 0.2}` ends it early. Limits apply to all games together. Games of bots only run in worker
    processes. Raises as `run`.
    """
    from agentsim.runs.batch.run_batch import Batch
    from agentsim.studies.batches import prepare_batch, width_reached

    directory, manifest = prepare_batch(
        scenario,
        games=games,
        cast=models,
        rotate=rotate,
        paired=paired,
        out=None if out is None else Path(out),
        logs_dir=logs_folder(logs_dir),
        seed=seed,
        overrides=set or {},
        own=own_models or (),
        max_cost_usd=max_cost_usd,
        design=design,
        until=until,
    )
    result = await Batch(
        manifest,
        directory,
        env=variables(env, allow_keys),
        jobs=jobs,
        abort_after=abort_after,
        own=own_models or {},
        enough=width_reached(directory, manifest.design.until),
    ).play()
    if result.stopped is not None:
        raise result.stopped
    found = load_results(directory)
    assert isinstance(found, RecordedRuns), "a folder"
    return found


async def influence(
    name: str,
    *,
    at: int,
    swap: Swap | None = None,
    words: str | None = None,
    each: bool = False,
    branches: int = 20,
    jobs: int | None = None,
    max_cost_usd: float | None = None,
    max_calls: int | None = None,
    max_wall_s: float | None = None,
    logs_dir: Folder = None,
    models: Models | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
) -> list[Influence]:
    """Measure the effect of the message of a run's decision `at` on its listeners and the outcome (extra `analysis`).

    It plays `branches` branches with the message and as many with a replacement: silence (the default, if the request
    allows it), `neutral` words of the same length, or `words`. With `each`, it does so for the message of every player
    in that round, with one `Influence` per message. `jobs` branches are played at once, as in `fork_arm`.
    `max_cost_usd`, `max_calls` and `max_wall_s` apply to each branch. Repeating the call continues an incomplete study.
    Raises as `fork`, and `UsageError` if the decision sends no message to another player.
    """
    with needed_by("influence"):
        from agentsim.studies.influence import MessageStudy
    files = named_run(name, logs_folder(logs_dir))
    study = MessageStudy.of(files, at, swap=swap, words=words, each=each, branches=branches)
    options = RunOptions(variables(env, allow_keys), own=models or {})
    limits = LimitOverrides(max_cost_usd, max_calls, max_wall_s)
    await _branches(study.jobs, jobs, lambda job: job.run(options, limits=limits))
    return study.measured()


def compare(
    name: str, *, at: int | None = None, control: str = CONTROL, effect: float | None = None, logs_dir: Folder = None
) -> Comparison:
    """Compare the arms of a forked run with its control, branch k against branch k (extra `analysis`).

    `at` is the forked decision, needed if arms fork at several. With an `effect`, each row has the number of branches
    needed to detect one of that size. Raises `UsageError` if there are no arms.
    """
    with needed_by("comparing arms"):
        from agentsim.analysis.arms import comparison
    directory, parent = run_place(name, logs_folder(logs_dir))
    return comparison(directory, parent, at=at, control=control, effect=effect)


def report(
    *sources: str | os.PathLike[str],
    by: Literal["model", "player"] | None = None,
    pool: bool = False,
    planned: Sequence[str] = (),
    measures: Sequence[str] = (),
    max_fallbacks: float = 0.10,
    logs_dir: Folder = None,
) -> Report:
    """Compare the players of the games in some folders (extra `analysis`).

    The report of a design has its effects in `to_frame()`, any other its standings; `tables` has all tables. In a
    notebook it shows itself. `by` is what to compare, by default models if there are several; `measures` takes the
    place of a design's. Raises `UsageError` for a folder without finished games.
    """
    with needed_by("report"):
        from agentsim.studies.folder_report import compared
    folders = [require_folder(os.fspath(source), logs_folder(logs_dir)) for source in sources]
    return compared(folders, by=by, pool=pool, planned=planned, measures=measures, max_fallbacks=max_fallbacks)


def plan(
    design: str | os.PathLike[str] | Mapping[str, Any],
    pilot: str | os.PathLike[str],
    *,
    effect: float,
    measure: str | None = None,
    factor: str | None = None,
    player: str | None = None,
    logs_dir: Folder = None,
) -> Plan:
    """Return how many blocks, games, calls and dollars a design needs, by a pilot of it (extra `analysis`).

    `effect` is the size to be found with a power of 80%. Raises `UsageError` if the folder is not such a pilot.
    """
    with needed_by("plan"):
        from agentsim.studies.designs import read_design
        from agentsim.studies.plan import plan as planned

    table = read_design(design if isinstance(design, Mapping) else Path(design)).factorial
    folder = require_folder(os.fspath(pilot), logs_folder(logs_dir))
    return planned(table, folder, size=effect, measure=measure, factor=factor, player=player)


async def code(
    source: str | os.PathLike[str],
    codebook: str | os.PathLike[str],
    *,
    judges: Sequence[str] = (),
    sample: int | None = None,
    seed: int | None = None,
    set: Overrides = (),  # noqa: A002 - as on the command line
    logs_dir: Folder = None,
    models: Models | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
    max_cost_usd: float | None = None,
    max_calls: int | None = None,
) -> Coding:
    """Have judges code the units of a run, or of all runs of a folder, and return the codes of all coders.

    `codebook` is a name (`promises`) or a TOML file. Judges are models, with the settings `set`; without any, what is
    coded is read (extra `analysis`). `sample` codes that many units, drawn by `seed`. Repeating the call continues an
    incomplete coding. Raises as `run`, and `UsageError` if there is nothing to code.
    """
    with needed_by("code"):
        from agentsim.studies.coding import Coding, CodingPlan, Judges, load_codebook
    book = load_codebook(os.fspath(codebook))
    plan = CodingPlan.of(os.fspath(source), book, logs_folder(logs_dir), seed=seed, sample=sample)
    if judges:
        limits = LimitOverrides(max_cost_usd, max_calls)
        await Judges(plan, judges, variables(env, allow_keys), set, limits, models or {}).code()
    return Coding.read(plan)


async def rate(
    model: str,
    pool: str | Path,
    *,
    logs_dir: str | Path | None = None,
    jobs: int | None = None,
    models: Mapping[str, OwnModel] | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
    **options: Any,
) -> Rating:
    """Rate a model against the reference pool in a file, in at most `games` games (100; extra `analysis`).

    It stops when the 95% interval of the log strength is narrower than `width` (0.5). The model gets at most `entries`
    seats at a table (by default half of them, rounded down). `set` holds its settings (`{"temperature": 0.2}`), by
    default those that all members of the pool share. Further options are `seed`, `out` and `max_cost_usd`, as of
    `batch`, and `max_calls` and `max_wall_s`, as of `resume`. Repeating the call continues an incomplete rating.
    Raises as `batch`.
    """
    with needed_by("rate"):
        from agentsim.studies.rating import Rating
    rating = Rating(
        model, Path(pool), variables(env, allow_keys), logs_dir=logs_folder(logs_dir), own=models or (), **options
    )
    for batch in rating.batches(jobs=jobs, abort_after=5, own=models or {}):
        result = await batch.play()
        if result.stopped is not None:
            raise result.stopped
        if not result.complete:
            raise AgentsimError(f"{rating.directory}: not every game came to a result; the same call tries again")
    return rating


class _Listening(Watcher):
    """A watcher that passes each event to the callback, without fields known only from its decision."""

    def __init__(self, on_event: OnEvent | None) -> None:
        self._on_event, self._numbers = on_event, count(1)

    def told(self, events: Sequence[LoggedEvent]) -> None:
        if self._on_event is not None:
            for told, number in zip(events, self._numbers, strict=False):
                self._on_event(EventRecord.of(number, told))


def recorded_run(result: RunResult) -> RecordedRun:
    """Return the recorded run of a result. Raises the error that stopped the run; see `run`."""
    if isinstance(result.error, Interrupted):
        raise asyncio.CancelledError
    if result.error is not None and result.status not in FINISHED:
        result.error.add_note(f"agentsim.resume({result.files.name!r}) goes on with the run")
        raise result.error
    return run_in(result.files)


def _change(instead: Mapping[str, Any] | None, settings: Mapping[str, Any] | None) -> Change:
    written = (f"{key}={json.dumps(value)}" for key, value in (settings or {}).items())
    return Change(None if instead is None else json.dumps(instead), tuple(written))


def variables(env: Mapping[str, str] | None, allowed: Collection[str]) -> Variables:
    """Return the variables that keys come from: `env`, or the process's environment and `./.env`."""
    return environment(None, allowed) if env is None else Variables(env, allowed)
