"""`agentsim validate`, `games`, `models`, `schema` and `check`: inspect scenarios, games and models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentsim.cli import shared_options as o
from agentsim.cli.terminal_output import left_out, note, remark, safe, say, say_json, shortened
from agentsim.engine.wording import aligned, counted
from agentsim.errors import ModelError, ProviderStopped, ScenarioError, UsageError

if TYPE_CHECKING:
    from agentsim.engine.game import Game
    from agentsim.models.keys import Variables
    from agentsim.runs.forecast import FirstPrompts, Forecast, ModelForecast, TextLengths
    from agentsim.runs.ping import Pinged
    from agentsim.scenario.scenario import Scenario


PROVIDER_FAILS = 3
_QUIET, _BUSY = (230, 75), (45, 14)
"""Tokens per second of prompt and of reply that the embedded model reaches on an idle and on a busy machine
(docs/benchmarks/local_model.md)."""


def validate(
    *,
    source: o.ConfigFile,
    loading: o.Loading,
    keys: o.Keys,
    ping: Annotated[bool, o.option("--ping", "Send one small request to every model and explain failures.")] = False,
    like: Annotated[
        str | None, o.option("--like", "Forecast with texts as long as those of this played game.", "NAME")
    ] = None,
    logs_dir: o.LogsDir = Path("logs"),
    count: Annotated[
        int | None, o.option("--games", "Forecast a batch of N games; default of a design: all of it.", "N", min=1)
    ] = None,
    models: Annotated[
        str | None, o.option("--models", "Forecast a batch in which these models take turns in the seats.", "A,B,C")
    ] = None,
    show_prompts: Annotated[
        bool, o.option("--show-prompts", "Print what the first question to each player looks like.")
    ] = False,
    as_json: o.AsJson = False,
) -> None:
    """Check a scenario or a design without playing it.

    What is checked is all that can be known before the first call: the file, the players, keys and extras, and the
    measures of a design. Then calls, tokens and cost are forecast from games on bots, with texts of the lengths that
    are printed: of one game, of a whole design, or of --games N.
    """
    from agentsim.games import find
    from agentsim.runs.forecast import Forecast, batch_forecast, first_prompts, forecast
    from agentsim.runs.ping import ping as pinged
    from agentsim.runs.seats import key_disclosures, setting_notes
    from agentsim.scenario.load import load
    from agentsim.scenario.scenario import idle_settings

    said = (lambda _line: None) if as_json else say
    config, casts, count = _casts(source.path, count, models, loading.options, said)
    scenario = load(config, **loading.options)
    played, env = find(scenario.game), keys.env
    if not ping:  # the ping reports missing keys in more detail, for every model
        _check_players((scenario, *casts), played, env)
    doubted = played.doubts(scenario.config, [plan.id for plan in scenario.players])
    doubts = [*idle_settings(scenario, casts), *setting_notes(scenario, env), *_small_caps(scenario, env), *doubted]
    for line in doubts:
        remark(f"{config}: {line}")
    verdict = "" if ping else ", can be played"
    said(f"{config}: {scenario.game}, {counted(len(scenario.players), 'player')}{verdict}")
    for row in aligned(list(_seats(scenario)), " "):
        said(f"  {row}")
    lengths = None if like is None else _lengths(like, logs_dir, scenario)
    expected = forecast(scenario, played, env=env, lengths=lengths) if ping or count is None else Forecast()
    of_all = expected if count is None else batch_forecast(casts, played, count, env, lengths)
    for row in (*_rows(scenario, of_all, count), *key_disclosures(scenario, env)):
        said(row)
    prompts = first_prompts(scenario, played) if show_prompts else {}
    if not as_json:
        _print_prompts(prompts)
    answers = pinged(scenario, played, env, expected) if ping else []
    if as_json:
        forecasted = {"games": 1 if count is None else count, "forecast": of_all.to_json()}
        asked = {"prompts": _prompts_as_json(prompts), "ping": [asdict(answer) for answer in answers]}
        players = [{"id": plan.id, "model": plan.model} for plan in scenario.players]
        found = {"file": str(source.path), "game": scenario.game, "players": players, "warnings": doubts}
        say_json({**found, **forecasted, **asked})
    elif ping:
        _print_answers(answers)
    if not all(answer.ok for answer in answers):
        raise typer.Exit(PROVIDER_FAILS)


def _check_players(scenarios: Sequence[Scenario], played: Game, env: Variables) -> None:
    """Build the players of each different scenario. Raises as a run would before its first call."""
    from agentsim.runs.seats import build_players

    for each in {json.dumps(each.game_settings(), sort_keys=True): each for each in scenarios}.values():
        build_players(each, played, env, served=True)


def _prompts_as_json(prompts: FirstPrompts) -> dict[str, list[dict[str, str]]]:
    return {
        player: [{"role": message.role, "content": message.text} for message in messages]
        for player, (_, messages) in prompts.items()
    }


def _print_answers(answers: Sequence[Pinged]) -> None:
    say("ping:" if answers else "ping: no player uses a model that can be asked")
    for answer in answers:
        verdict = "ok" if answer.ok else "FAILS"
        say(f"  {shortened(f'{answer.model}: {verdict}: {answer.words}', 1000)}")


def _casts(
    path: Path, count: int | None, models: str | None, loading: dict[str, Any], said: Callable[[str], object]
) -> tuple[Path, list[Scenario], int | None]:
    """Return the scenario's file (of a design its base), the scenarios that a batch plays, and its number of games."""
    from agentsim.scenario.load import load
    from agentsim.studies.designs import is_design

    cast = [name.strip() for name in models.split(",")] if models else [None]
    if is_design(path):
        config, casts, planned = _of_design(path, cast, loading, said)
        return config, casts, count or planned
    if models and count is None:
        raise UsageError("--models: needs --games")
    return path, [load(path, **loading, model=model) for model in cast], count


def _lengths(name: str, logs_dir: Path, scenario: Scenario) -> TextLengths:
    """Return the lengths of texts in a played game. Raises `UsageError` if it is no model's, or of another game."""
    from agentsim.records.load import load_history, require_history
    from agentsim.records.run_files import find_run
    from agentsim.runs.forecast import text_lengths

    files = find_run(logs_dir, name)
    require_history(files)
    history = load_history(files.history)
    if history.game != scenario.game:
        raise UsageError(f"--like {name}: is a game of {history.game}, not of {scenario.game}")
    if not (lengths := text_lengths(history.decisions)):
        raise UsageError(f"--like {name}: holds no text of a model")
    return lengths


def _print_prompts(prompts: FirstPrompts) -> None:
    """Print the messages of the first request to each player, in a game on bots."""
    for player, (request, messages) in prompts.items():
        typer.echo(safe(f"\n=== the first question to {player}: {request.kind} (in a game on bots)"))
        for message in messages:
            typer.echo(safe(f"--- {message.role}\n{message.text}"))


def _seats(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield lines of players and staff with their models.

    Consecutive seats share a line if their ids differ only in a number and their models are equal.
    """
    for (_, title), plans in groupby(scenario.seats, lambda plan: (plan.id.rstrip("0123456789"), plan.title)):
        first, *others = (plan.id for plan in plans)
        yield f"{first} to {others[-1]} ({len(others) + 1}):" if others else f"{first}:", title


def _of_design(
    config: Path, cast: Sequence[str | None], loading: dict[str, Any], said: Callable[[str], object]
) -> tuple[Path, list[Scenario], int | None]:
    """Check all cells of a design, and pass its description to `said`.

    Return its base scenario, the scenarios of its cells, and its number of games.
    """
    from agentsim.studies.batches import check_measures
    from agentsim.studies.designs import cells, level_named, read_design

    design = read_design(config)
    if design.config is None:
        raise ScenarioError("is missing: it is validated with the design", key="config", where=str(config))
    casts, _ = cells(design, design.config, cast, **loading)
    table = design.factorial.table
    unseen = check_measures(casts[0], table.measures, where=str(config))
    said(f"{config}: a design; {design.factorial.in_words}")
    for key, levels in table.factors.items():
        labels = design.factorial.labels[key]
        named = (
            text if (text := level_named(level)) == label else f"{label} ({text})"
            for level, label in zip(levels, labels, strict=True)
        )
        said(f"  {design.factorial.names[key]} ({key}): {', '.join(named)}")
    if unseen:
        remark(f"{config}: measures: no game on bots has {', '.join(unseen)}")
    return design.config, casts, None if table.replicates is None else table.replicates * len(design.factorial.cells)


def _small_caps(scenario: Scenario, env: Mapping[str, str]) -> list[str]:
    """Return a line for each reasoning model whose `max_tokens` its reasoning may use up."""
    from agentsim.models.prices import small_cap
    from agentsim.models.profiles import resolve

    lines: dict[str, str] = {}
    for plan in scenario.seats:
        cap = plan.max_tokens
        for each in plan.chain:
            sent: list[Mapping[str, Any]] = [plan.client_kwargs]
            if cap is not None and each.name.kind == "remote":
                profile = resolve(each.name.provider, scenario.providers, env)
                sent += (
                    profile.extra_body,
                    profile.translated(each.name.rest, plan.sampling).parts.get("reasoning", {}),
                )
            if (enough := small_cap(each.model, cap, *sent)) is not None:
                what = f"max_tokens = {cap} is small for {each.model}, which thinks before it answers"
                lines[each.model] = f"{plan.id}: {what}, and may be cut off before it does: give {enough}, or none"
    return list(lines.values())


def _rows(scenario: Scenario, expected: Forecast, games: int | None = None) -> list[str]:
    """Return the lines of a forecast, of one game or of a batch of `games`."""
    parts = [part for part in expected.models.values() if part.calls]
    if not parts:
        return [] if games is None else [f"forecast of {counted(games, 'game')}: bots decide everything, no calls"]
    short = (
        ""
        if expected.ended
        else f", stopped early after {counted(expected.decisions, 'decision', form=',')}: the game is longer"
    )
    of, run = ("", "run") if games is None else (f" of {counted(games, 'game', form=',')}", "batch")
    rows = [f"forecast{of}, an estimate from games on bots, without re-asks and retries{short}:"]
    rows += [f"  {part.model}: {_words(part)}" for part in parts]
    for part in parts:
        if part.model.startswith("local/"):
            fresh = part.prompt - part.repeated
            least, most = (fresh / prompt + part.completion / reply for prompt, reply in (_QUIET, _BUSY))
            rows.append(f"  {part.model} takes about {_minutes(least)} to {_minutes(most)} on two cores, idle or busy")
    total = expected.total()
    if len(parts) > 1:
        rows.append(f"  in all: {_words(total)}")
    if expected.least < expected.most:
        rows.append(f"  {expected.least:,}-{counted(expected.most, 'call', form=',')} across other seeds and bots")
    if texts := [f"{path} {expected.texts[path] / said:.0f}" for path, said in sorted(expected.said.items())]:
        rows.append(f"  with texts of so many characters on average: {', '.join(texts)}")
    limits = scenario.limits
    if limits.max_calls is not None and total.calls > limits.max_calls:
        rows.append(f"  more than limits.max_calls = {limits.max_calls}: the {run} would stop there")
    if limits.max_cost_usd is not None and total.most_usd is not None and total.most_usd > limits.max_cost_usd:
        sure = total.usd is not None and total.usd > limits.max_cost_usd
        rows.append(f"  limits.max_cost_usd = {limits.max_cost_usd:g} {'would' if sure else 'could'} stop the {run}")
    return rows


def _words(part: ModelForecast) -> str:
    from agentsim.cli.finish import money

    unknown = part.usd is None and part.most_usd is None
    cost = "unknown price" if unknown else f"cost {money(part.usd)}, at most {money(part.most_usd)}"
    return (
        f"{counted(part.calls, 'call', form=',')}; {counted(part.prompt, 'prompt token', form=',')}, "
        f"{part.repeated:,} of them ({part.repeated / part.prompt:.0%}) a repeated prefix; "
        f"{counted(part.completion, 'completion token', form=',')}, "
        f"at most {part.most_completion:,}; {cost}"
    )


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


def usable_games() -> list[Game]:
    """Return all installed games. A note names each plugin that cannot be used."""
    from agentsim.games import find, names

    found = []
    for name in names():
        try:
            found.append(find(name))
        except ScenarioError as error:
            left_out(name, str(error))
    return found


def games(as_json: o.AsJson = False) -> None:
    """List the games with their bots."""
    from agentsim.engine.game import bots_of

    found = usable_games()
    if as_json:
        rows = [
            {
                "name": game.name,
                "title": game.title,
                "summary": game.summary,
                "bots": sorted(bots_of(game)),
                "staff": sorted(game.staff),
                "rules_version": game.rules_version,
            }
            for game in found
        ]
        say_json(rows)
        return
    for game in found:
        say(f"{game.name}: {game.summary}")
        say(f"  bots: {', '.join(f'bot/{bot}' for bot in sorted(bots_of(game)))}")


def models(
    *,
    provider: Annotated[
        str | None, typer.Argument(metavar="PROVIDER", help="Ask this provider which models it offers.")
    ] = None,
    config: Annotated[
        Path | None, o.path_option("--config", "A scenario whose [providers.<name>] tables hold.")
    ] = None,
    keys: o.Keys,
    as_json: o.AsJson = False,
) -> None:
    """List providers, or the models that one of them offers.

    Without PROVIDER nothing is called: it says where each is reached and whether its key is set. With it, the models of
    its endpoint are listed, with context and price in US dollars per million tokens where they are known. No key is
    shown.
    """
    from agentsim.models.local import embedded_models
    from agentsim.models.profiles import BUILT_IN, resolve

    env = keys.env
    if provider is not None:
        _offers(provider, config, env, as_json=as_json)
        return
    if config is not None:
        raise UsageError("--config: is for the models of one PROVIDER")
    rows: list[dict[str, Any]] = []
    for name, built_in in BUILT_IN.items():
        try:
            profile = resolve(name, {}, env)
        except ScenarioError as error:
            if not error.key:  # an address in the environment is invalid
                raise
            profile = built_in  # the profile needs a table in the scenario
        named = list(profile.key_envs)
        key = "not needed" if not named else "set" if any(env.get(variable) for variable in named) else "missing"
        rows.append({"name": f"{name}/<model>", "base_url": profile.base_url, "key": key, "key_env": named})
    for name, installed in embedded_models().items():
        rows.append({"name": f"local/{name}", "installed": installed})
    if as_json:
        say_json(rows)
        return
    for row in rows:
        typer.echo(f"{row['name']}: {_state(row)}")
    typer.echo("local/<path>.gguf: any other file of weights; <provider>/<model>: a [providers.<provider>] table")
    typer.echo("bot/<policy>: see `agentsim games`; human: a person at this terminal; script:<file>: canned replies")


def _offers(provider: str, config: Path | None, env: Variables, *, as_json: bool) -> None:
    """Print the models that a provider offers.

    Its failure is raised as `ProviderStopped`, which has the exit code for providers.
    """
    import asyncio

    from agentsim.models.keys import key_disclosure, key_for, variable_for
    from agentsim.models.offers import offers
    from agentsim.models.profiles import resolve
    from agentsim.scenario.load import load

    profile = resolve(provider, {} if config is None else load(config).providers, env)
    key = key_for(profile, env)
    if (line := key_disclosure(profile, variable_for(profile, env))) is not None:
        note(line)
    try:
        found = asyncio.run(offers(profile, key))
    except ModelError as error:
        raise ProviderStopped(str(error).replace(f"{provider}/models: ", f"{provider}: ", 1)) from None
    if as_json:
        say_json([{"name": f"{provider}/{offer.id}", **offer.record()} for offer in found])
        return
    if not found:
        say(f"{provider} lists no models")
        return
    rows: list[tuple[str, ...]] = [("name", "context", "longest reply", "input", "output")]
    rows += [
        (
            f"{provider}/{offer.id}",
            *("-" if tokens is None else f"{tokens:,}" for tokens in (offer.context, offer.max_output)),
            *("-" if price is None else f"${price:,.10g}" for price in (offer.input, offer.output)),
        )
        for offer in found
    ]
    typer.echo("\n".join(aligned(rows)))


def _state(row: dict[str, Any]) -> str:
    if "installed" in row:
        return "embedded, installed" if row["installed"] else "embedded, not installed (extra: local)"
    variables = f" ({' or '.join(row['key_env'])})" if row["key_env"] else ""
    return f"{row['base_url'] or '(an address of your own)'}, key {row['key']}{variables}"


def schema(
    *,
    codebook: Annotated[bool, o.option("--codebook", "Print that of a codebook's file instead.")] = False,
) -> None:
    """Print the JSON Schema of the scenario file, or of codebooks."""
    from agentsim.scenario.toml_tables import json_schema, schema_of

    if codebook:
        from agentsim.records.codes import Codebook

        found = schema_of(Codebook, "agentsim codebook")
    else:
        found = json_schema(usable_games())
    typer.echo(json.dumps(found, indent=2, ensure_ascii=False))


FOUND = 1
_LONGEST = 1000
_MOST = 5  # findings of a check that are printed


def check(
    game: Annotated[str, typer.Argument(metavar="GAME", help="The game's name, as `agentsim games` lists it.")],
    *,
    golden: Annotated[
        Path | None, o.path_option("--golden", "Folder of golden files: compared; missing ones are written.", "DIR")
    ] = None,
    update: Annotated[bool, o.option("--update", "Rewrite the golden files.")] = False,
    seeds: Annotated[int, o.option("--seeds", "How many games a check plays.", "N", min=1)] = 20,
) -> None:
    """Check a game against the promises of all games.

    Each check plays the game's tiny scenario on bots and says in one line that nothing was found, or what, and where;
    what else it found stands indented below. An error that stops several checks is said once. Exit code 1 where
    anything is found.
    """
    from agentsim.testing import CHECKS, case_of

    if update and golden is None:
        raise UsageError("--update: needs --golden DIR")
    case, failed = case_of(game, golden=golden, update=update, seeds=seeds), 0
    stopped: dict[str, list[str]] = {}  # the checks that an error stopped, by where it was raised
    for name, look in CHECKS.items():
        looked_at, findings = look(case)
        failed += bool(findings)
        stops = {finding.where for finding in findings if finding.stopped}
        findings = tuple(each for each in findings if not each.stopped or each.where not in stopped)
        for where in stops:
            stopped.setdefault(where, []).append(name)
        if not findings and not stops:
            say(shortened(f"ok {name}: {looked_at}", _LONGEST))
        advised = set[str]()  # each advice is printed once
        for number, finding in enumerate(findings[:_MOST]):
            said = f"{finding.where}: {finding.what}" if finding.advice in advised else str(finding)
            advised.add(finding.advice)
            say(f"{'  ' if number else f'FAILED {name}: '}{shortened(said, _LONGEST)}")
        if len(findings) > _MOST:
            say(f"  and {len(findings) - _MOST} more")
    for first, *others in stopped.values():
        if others:
            say(f"{counted(len(others), 'more check')} stopped at the error that {first} found: {', '.join(others)}")
    if failed:
        say(f"{game}: {failed} of {counted(len(CHECKS), 'check')} found something")
        raise typer.Exit(FOUND)
