"""Loading of scenarios: from a TOML file or a mapping, with changes, to a `Scenario` or one `ScenarioError`.

Each step has its own module. This one has their order and the checks that span several.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias, TypedDict

from pydantic import Field

from agentsim import games
from agentsim.engine.codec import StrictTable
from agentsim.engine.game import Game, GameConfig, bots_of
from agentsim.engine.survey import MOST_OPTIONS, Interview, Survey, SurveyQuestion, names_of, posed
from agentsim.engine.truth import WINNER
from agentsim.errors import ErrorCollector, ScenarioError
from agentsim.scenario.batteries import battery_questions, with_batteries
from agentsim.scenario.document import (
    adopted,
    beside,
    errors_by_typed_id,
    overridden,
    put,
    recast,
    rename,
    with_provider,
)
from agentsim.scenario.player_plan import OWN, ModelName, PlayerPlan, check_terminal
from agentsim.scenario.scenario import Scenario
from agentsim.scenario.seating import Seating
from agentsim.scenario.source_files import Material, gathered, read_toml, roots
from agentsim.scenario.toml_tables import PeopleTable, ScenarioTable
from agentsim.scenario.validation import KeyPath, dotted, nearest, one_line, screen, validated

Source: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | ScenarioTable
"""A scenario: the path of a TOML file, a mapping with the content of such a file, or an `agentsim.Scenario`."""
Overrides: TypeAlias = Sequence[str] | Mapping[str, Any]
"""Changes: `KEY=VALUE`, or values by dotted key."""


class LoadOptions(TypedDict, total=False):
    """The options of `load` besides the scenario."""

    game_config: Path | None
    overrides: Overrides
    provider: str | None
    game: str | None
    seed: int | None
    allow_dirs: Sequence[str | os.PathLike[str]]
    max_cost_usd: float | None


def load(
    source: Source,
    *,
    game_config: Path | None = None,
    overrides: Overrides = (),
    provider: str | None = None,
    game: str | None = None,
    seed: int | None = None,
    allow_dirs: Sequence[str | os.PathLike[str]] = (),
    max_cost_usd: float | None = None,
    model: str | None = None,
    own: Collection[str] = (),
    levels: Mapping[str, Any] = MappingProxyType({}),
) -> Scenario:
    """Load a scenario. Raises `ScenarioError`, which names the file and the key.

    If the source is not a file, paths in it are relative to the working directory. `game_config` is a second file, for
    tables that the first does not have. Changes apply in this order: `overrides`, the `levels` of a design by key, the
    other arguments. `model` replaces every player's model, but not the staff's. `own` are the names of models that a
    Python program passes.
    """
    if isinstance(source, ScenarioTable):
        source = source.model_dump(mode="json", exclude_unset=True, by_alias=True)
    if isinstance(source, Mapping):
        path, where = Path("scenario.toml"), "the scenario"
    else:
        path, where = Path(source), one_line(os.fspath(source))
    with _placed(where):
        document = deepcopy(dict(source)) if isinstance(source, Mapping) else read_toml(path)
        second, further = one_line(str(game_config)), dict[str, Any]()
        if game_config is not None:
            with _placed(second):
                further = read_toml(game_config)
        if "factors" in document:
            raise ScenarioError("are of a design, which `agentsim batch --design` plays", key="factors")
        with _placed(second, {*further, *(["game_config"] if "game" in further else [])}):
            # the two files merged, and the keys of another project's files translated
            document = adopted(beside(document, further), game)
            # again: overrides may use the other project's keys, and have priority over the file
            document = adopted(overridden(overridden(document, overrides), levels), game)
            for key, value in (("game", game), ("seed", seed), ("limits.max_cost_usd", max_cost_usd)):
                if value is not None:
                    put(document, key.split("."), value)
            if model is not None:
                recast(document, model)
            rename(document, lambda name: f"{OWN}{name}" if name in own else name)
            if provider is not None:
                with_provider(document, provider)
            screen(document)
            allowed = tuple(map(Path, allow_dirs))
            with errors_by_typed_id(document, overrides):
                return _scenario(_table(with_batteries(document), path, allowed), path, allowed)


def _table(document: Mapping[str, Any], path: Path, allow_dirs: tuple[Path, ...]) -> ScenarioTable:
    """Validate the document. If that fails, the errors of the game's own table are added to the others."""
    try:
        return validated(ScenarioTable, document)
    except ScenarioError as error:
        errors = ErrorCollector()
        name, values = document.get("game"), document.get("game_config", {})
        errors.note(_misplaced(document) or error)
        if isinstance(name, str) and isinstance(values, dict):
            with errors.noted():
                _config(games.find(name), values, path, roots(path, allow_dirs))
        errors.raised()
        raise


def _misplaced(document: Mapping[str, Any]) -> ScenarioError | None:
    """Return the error for the first key of the game's own table that is at the top of the file, or None."""
    with suppress(ScenarioError):
        own = games.find(str(document.get("game"))).config.model_fields
        for key in document:
            if key in own and key not in ScenarioTable.model_fields:
                return ScenarioError("unknown key; it belongs below [game_config]", key=key)
    return None


def _config(game: Game, values: Mapping[str, Any], path: Path, allowed: Sequence[Path]) -> tuple[GameConfig, Material]:
    """Return the game's own table, validated, and the contents of the files it names."""
    material = gathered(values, game.config, path, allowed)
    return validated(game.config, material.game_config, at=("game_config",)), material


def _scenario(table: ScenarioTable, path: Path, allow_dirs: tuple[Path, ...]) -> Scenario:
    if table.game is None:
        raise ScenarioError("is missing; give it here or as --game", key="game", valid=", ".join(games.names()))
    game = games.find(table.game)
    allowed = roots(path, allow_dirs)
    errors, material = ErrorCollector(), Material({})
    with errors.noted():
        config, material = _config(game, table.game_config, path, allowed)
    seating = Seating(table, game, material, path, allowed)
    with errors.noted():
        players = seating.players()
    errors.raised()
    config = seating.by_player(config)
    staff = seating.staff(players)
    game.admit(config, [player.id for player in players])
    check_terminal(players)
    _admit_people(table.people, game, players)
    return Scenario(
        game=game.name,
        name=table.name,
        seed=table.seed,
        config=config,
        players=players,
        staff=staff,
        limits=table.limits,
        providers=table.providers,
        prices=table.prices,
        interviews=_interviews(table, game, [player.id for player in players]),
        people=table.people,
        path=path.resolve(),
        allow_dirs=tuple(allowed.resolve() for allowed in allow_dirs),
    )


def _admit_people(people: PeopleTable | None, game: Game, players: Sequence[PlayerPlan]) -> None:
    """Raise `ScenarioError` if the `people` table does not fit these players of this game."""
    if people is None:
        return
    if all(plan.name.kind != "web" for plan in players):
        raise ScenarioError('no player has model = "web"', key="people")
    if people.fill_with is not None:
        try:
            name = ModelName.parse(people.fill_with)
        except ValueError:
            name = None
        if name is None or name.kind != "bot" or name.rest not in bots_of(game):
            hint, valid = nearest(people.fill_with, [f"bot/{policy}" for policy in bots_of(game)])
            raise ScenarioError(f"must be a bot of {game.name}{hint}", key=dotted(("people", "fill_with")), valid=valid)


def _interviews(table: ScenarioTable, game: Game, players: Sequence[str]) -> tuple[Interview, ...]:
    """Return the interviews.

    Raises `ScenarioError` for an unknown player, kind of decision or fact, for two questions of one name, or if the
    game has a question kind `Survey.kind`.
    """
    if table.interviews and any(request.kind == Survey.kind for request in game.requests):
        raise ScenarioError(f"{game.name} has a question of its own that is called {Survey.kind}", key="interviews")
    kinds = [request.kind for request in game.requests]
    named: set[str] = set()
    for index, each in enumerate(table.interviews):
        for player in each.players:
            _known(player, players, f"no player is called {player[:40]}", ("interviews", index, "players"))
        for key, kind in (("before", each.before), ("after", each.after)):
            if kind is not None:
                _known(kind, kinds, f"{game.name} has no decision {kind[:40]}", ("interviews", index, key))
        _admit_questions(each.questions, game, players, named, ("interviews", index, "questions"))
    return table.interviews


class _Asked(StrictTable):
    """The file of `agentsim interview --ask`."""

    questions: Annotated[tuple[SurveyQuestion, ...], Field(min_length=1, max_length=30)]


def load_questions(
    path: Path | None, batteries: Sequence[str], game: Game, players: Sequence[str]
) -> tuple[SurveyQuestion, ...]:
    """Return the questions of batteries and of a TOML file with `[[questions]]`, for these players of a game.

    Raises `ScenarioError`, which names the file and the key, for one that cannot be asked.
    """
    asked = [question for name in batteries for question in battery_questions(name, game.name, key="--battery")]
    with _placed("--battery" if path is None else one_line(os.fspath(path))):
        if path is not None:
            document = read_toml(path)
            screen(document)
            own = validated(_Asked, document)
            asked += [each.model_dump(mode="json", exclude_unset=True) for each in own.questions]
        questions = validated(_Asked, {"questions": asked}).questions
        _admit_questions(questions, game, players, set(), ("questions",))
    return questions


def _admit_questions(
    questions: Sequence[SurveyQuestion], game: Game, players: Sequence[str], named: set[str], key: KeyPath
) -> None:
    """Raise `ScenarioError` for a question that cannot be asked; add the names of the others to those of `named`."""
    for number, question in enumerate(questions):
        at = (*key, number)
        _admit_question(question, game, players, at)
        called = names_of(players, {})
        names = {asked.name for player in players[:2] for asked in posed([question], player, called)}
        for name in sorted(names):
            if name in named:
                raise ScenarioError(f"two questions are called {name}", key=dotted((*at, "name")))
            named.add(name)


def _known(name: str, known: Sequence[str], problem: str, key: KeyPath) -> None:
    """Raise `ScenarioError` with the problem if the name is not among the known ones."""
    if name not in known:
        hint, valid = nearest(name, known)
        raise ScenarioError(f"{problem}{hint}", key=dotted(key), valid=valid)


def _admit_question(question: SurveyQuestion, game: Game, players: Sequence[str], at: KeyPath) -> None:
    if len(players) > MOST_OPTIONS and (question.among or question.about):
        raise ScenarioError(
            f"names {len(players)} players; a question names at most {MOST_OPTIONS}",
            key=dotted((*at, "among" if question.among else "about")),
        )
    if question.truth is not None:
        facts = [*game.facts, WINNER]
        _known(question.truth, facts, f"{game.name} has no fact {question.truth}", (*at, "truth"))


@contextmanager
def _placed(where: str, keys: Collection[str] | None = None) -> Iterator[None]:
    """Add the file to errors that do not name one: to all, or to those under these top-level keys."""
    try:
        yield
    except ScenarioError as error:
        if keys is not None and error.key.partition(".")[0] not in keys:
            raise
        raise error.placed(where=where) from None
