"""Seats: players built from the plans of a scenario. Nothing is called or written here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field

from agentsim.engine.game import Game, bots_of
from agentsim.errors import ErrorCollector, ScenarioError
from agentsim.lazy import dataclass
from agentsim.models.base import Adjustments, Model, Sampling
from agentsim.models.keys import key_disclosure, key_for, variable_for
from agentsim.models.own import OwnModel, OwnModelAdapter
from agentsim.models.pacing import RetryPolicy
from agentsim.models.prices import PricedModel, Prices
from agentsim.models.profiles import Profile, ProviderSettings, resolve
from agentsim.models.remote import Endpoints, RemoteModel
from agentsim.players.base import ReaskPolicy
from agentsim.players.human import HumanPlayer
from agentsim.players.model import BotPlayer, ModelPlayer
from agentsim.players.terminal import InterruptRequest, Terminal
from agentsim.players.web import WebPlayer
from agentsim.runs.decide import SeatedPlayer
from agentsim.runs.recorder import ReplySource
from agentsim.scenario.player_plan import PEOPLE, PlayerPlan
from agentsim.scenario.scenario import Scenario, check_prices, prices_of, shown_path


@dataclass
class Seats:
    """The players by id (staff as `@role`), and what must be closed after the game.

    `key_disclosures` are lines to print before the first call: which key goes to which address, which settings are not
    sent.
    """

    by_id: dict[str, SeatedPlayer]
    models: dict[str, Model]
    endpoints: Endpoints
    known: Mapping[str, Adjustments]
    prices: Prices
    own: Mapping[str, OwnModel] = field(default_factory=dict)
    interrupt: InterruptRequest = field(default_factory=InterruptRequest)
    key_disclosures: list[str] = field(default_factory=list)

    @property
    def has_person(self) -> bool:
        """Whether a player is at this terminal."""
        return any(isinstance(seat, HumanPlayer) for seat in self.by_id.values())

    def most_calls(self, concurrency: int) -> int:
        """Return an upper bound of the calls under way at once."""
        callers = sum(isinstance(seat, ModelPlayer) for seat in self.by_id.values())
        return min(callers, concurrency * len(self.endpoints))

    async def aclose(self) -> None:
        """Close the models' connections and embedded servers."""
        for model in self.models.values():
            await model.aclose()
        await self.endpoints.aclose()


def build_players(
    scenario: Scenario,
    game: Game,
    env: Mapping[str, str],
    reply_source: ReplySource | None = None,
    *,
    known: Mapping[str, Adjustments] | None = None,
    own: Mapping[str, OwnModel] | None = None,
    served: bool = False,
) -> Seats:
    """Build a player for every plan; plans with the same model share it.

    A `reply_source` records the models' replies or plays recorded ones. `known` are the adjustments of the models that
    have answered earlier in this run; `own` are the program's own models, by their names in the scenario. Players at
    pages need a run that is `served`.

    Raises `ScenarioError` for a key that is missing or may not be sent, an unknown provider, a missing extra, an
    unusable script or, under a limit in dollars, an unknown price; it names the scenario's file and the key.
    """
    reply_source = reply_source or ReplySource()
    errors = ErrorCollector()
    away = [plan for plan in scenario.seats if plan.name.kind == "web"]
    if away and not served:
        where, key = shown_path(scenario.path), away[0].key
        raise ScenarioError(
            "web needs a server: `agentsim run --serve`, `agentsim resume --serve`, or for a fork the page Steer of "
            "`agentsim serve`",
            key=key,
            where=where,
        )
    with errors.noted():
        check_prices(scenario, env)
    callers = [plan for plan in scenario.seats if plan.name.kind not in {"bot", *PEOPLE}]
    patience_s = min((settings.rate_limit_patience_s for settings in callers), default=math.inf)
    endpoints = Endpoints(scenario.limits.concurrency, patience_s)
    seats = Seats({}, {}, endpoints, known or {}, prices_of(scenario, env), own or {})
    terminal = Terminal()
    for plan in scenario.seats:
        if plan.name.kind == "bot":
            seats.by_id[plan.id] = BotPlayer(bots_of(game)[plan.name.rest])
        elif plan.name.kind == "human":
            seats.by_id[plan.id] = HumanPlayer(terminal, plan.prompt or "", seats.interrupt)
        elif plan.name.kind == "web":
            seats.by_id[plan.id] = WebPlayer(plan.prompt or "", plan.timeout_s)
        else:
            with errors.noted():
                seats.by_id[plan.id] = _model_player(plan, scenario, env, seats, reply_source)
    try:
        errors.raised()
    except ScenarioError as error:
        raise error.placed(where=shown_path(scenario.path)) from None
    if reply_source.live:
        seats.key_disclosures = [*key_disclosures(scenario, env), *setting_notes(scenario, env)]
    on_call = [plan.id for plan in scenario.staff.values() if plan.name.kind == "human"]
    may_ring = bool(on_call) and any(request.on_call for request in game.requests)
    seats.interrupt.attended = terminal.interactive and may_ring
    told = f"{', '.join(on_call)}: you are asked next. Ctrl-C again stops the run."
    seats.interrupt.noticed = lambda: terminal.notice(told)
    return seats


def key_disclosures(scenario: Scenario, env: Mapping[str, str]) -> list[str]:
    """Return a line for each key and the address that it goes to, and for each address that is not encrypted."""
    names = dict.fromkeys(name.provider for plan in scenario.seats for name in plan.names if name.provider)
    lines: list[str] = []
    for name in names:
        with suppress(ScenarioError):  # its models will not be called
            profile = resolve(name, scenario.providers, env)
            lines += filter(None, [key_disclosure(profile, variable_for(profile, env))])
    return lines


def setting_notes(scenario: Scenario, env: Mapping[str, str]) -> list[str]:
    """Return a line for each sampling setting that a model is sent differently or not at all."""
    asked: dict[str, list[tuple[str, Sampling]]] = {}
    for plan in scenario.seats:
        for each in plan.chain:
            pair = (each.name.provider or each.name.kind, plan.sampling)
            if each.name.kind in {"remote", "local"} and pair not in asked.setdefault(each.model, []):
                asked[each.model].append(pair)
    lines: list[str] = []
    for model, pairs in asked.items():
        for provider, sampling in pairs:
            with suppress(ScenarioError):  # its models will not be called
                profile = _local_profile() if provider == "local" else resolve(provider, scenario.providers, env)
                lines += (f"{model}: {note}" for note in profile.translated(model.partition("/")[2], sampling).notes)
    return list(dict.fromkeys(lines))


def _local_profile() -> Profile:
    from agentsim.models.local import PROFILE

    return PROFILE


def _model_player(
    plan: PlayerPlan, scenario: Scenario, env: Mapping[str, str], seats: Seats, reply_source: ReplySource
) -> ModelPlayer:
    assert plan.timeout_s is not None, "only people have all the time there is"
    assert plan.max_attempts is not None, "only people may go on for ever"
    key = f"{plan.model} {plan.file or ''}"
    # failures count together by the provider of a remote model, or by the kind of any other
    provider = plan.name.provider or (plan.model if plan.name.kind == "own" else plan.name.kind)
    if key not in seats.models:
        try:

            def opened() -> Model:
                return PricedModel(_model(plan, scenario, env, seats), seats.prices)

            asked = scenario.providers.get(provider, ProviderSettings()).request_part()
            seats.models[key] = reply_source.model(plan.model, provider, opened, asked)
        except ScenarioError as error:
            raise error.placed(key=plan.key) from None
    return ModelPlayer(
        model=seats.models[key],
        sampling=plan.sampling,
        persona=plan.prompt or "",
        retry_policy=RetryPolicy(
            retries=plan.retries,
            max_attempts=plan.max_attempts,
            retry_wait_s=plan.retry_wait_s,
            rate_limit_wait_s=plan.rate_limit_wait_s,
            rate_limit_jitter_s=plan.rate_limit_jitter_s,
            rate_limit_patience_s=plan.rate_limit_patience_s,
            count_rate_limits=plan.count_rate_limits,
            waits=reply_source.live,
        ),
        reasking=ReaskPolicy(plan.reasks, frozenset(plan.reask_on), plan.reask_with, plan.repair),
        source="script" if plan.name.kind == "script" else "model",
        backup=None if plan.backup is None else _model_player(plan.backup, scenario, env, seats, reply_source),
        warm=reply_source.live and plan.name.kind == "remote" and resolve(provider, scenario.providers, env).warm,
    )


def _model(plan: PlayerPlan, scenario: Scenario, env: Mapping[str, str], seats: Seats) -> Model:
    name = plan.name
    if name.kind == "own":
        if name.rest not in seats.own:
            raise ScenarioError(
                f"{plan.model} is a model of a Python program's own: it passes models={{{name.rest!r}: ...}}"
            )
        return OwnModelAdapter(plan.model, seats.own[name.rest])
    if name.kind == "script":
        from agentsim.models.own import Scripted

        assert plan.file is not None, "a script's plan knows its file"
        return Scripted(plan.model, plan.file)
    if name.kind == "local":
        from agentsim.models.local import open_local

        return open_local(plan.model, plan.file, seed=scenario.seed or 0)
    profile = resolve(name.provider, scenario.providers, env)
    endpoint = seats.endpoints.at(profile, key_for(profile, env))
    endpoint.open()  # half a second of imports, which would otherwise delay the first player
    return RemoteModel(plan.model, profile, endpoint, seats.known.get(plan.model))
