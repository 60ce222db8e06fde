"""`agentsim pool`, `rate` and `plan`: reference pools, the rating of a model, and the number of games for a design."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentsim.cli import shared_options as o
from agentsim.cli.terminal_output import print_panel, remark, safe, say, say_json, shortened, some_left_out
from agentsim.engine.wording import aligned, counted
from agentsim.errors import needed_by

if TYPE_CHECKING:
    from agentsim.studies.rating import Rating


def pool(
    source: Annotated[str, typer.Argument(metavar="DIR", help="A folder of finished games of one scenario.")],
    *,
    out: Annotated[Path, o.path_option("--out", "The pool's file, a new one.")],
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Freeze a folder of games as a reference pool.

    FILE holds the ranks of every game, with the digest of its history. The members of the pool are the models, with
    their settings. Needs the extra analysis.
    """
    from agentsim.records.load import require_folder

    directory = require_folder(source, logs_dir)
    with needed_by("pool"):
        from agentsim.studies.reference_pool import frozen
    made, left_out = frozen(directory)
    made.write(out)
    some_left_out(left_out)
    if as_json:
        counts = {"games": len(made.games), "seats": made.seats, "members": made.labels}
        say_json({"pool": str(out), "game": made.game, **counts, "left_out": left_out})
        return
    models, games = counted(len(made.members), "model"), counted(len(made.games), "game")
    typer.echo(safe(f"{out}: {models} in {games} of {made.game}, {counted(made.seats, 'seat')}"))


def rate(
    *,
    model: Annotated[str, o.option("--model", "The model to rate.", "MODEL")],
    pool: Annotated[Path, o.option("--pool", "The reference pool: a file of `agentsim pool`.", "FILE")],
    games: Annotated[int, o.option("--games", "The most games, in blocks of one for each seat.", "N", min=1)] = 100,
    width: Annotated[
        float, o.option("--width", "Stop where the 95% interval of the log strength is narrower.", "W", min=0)
    ] = 0.5,
    entries: Annotated[
        int | None, o.option("--entries", "The most seats of MODEL in a game; default: half of them.", "K", min=1)
    ] = None,
    overrides: Annotated[
        list[str] | None,
        o.option("--set", "A setting of MODEL, such as temperature=0.2; default: what all members share.", "KEY=VALUE"),
    ] = None,
    seed: Annotated[
        int | None, o.option("--seed", "Source of the games' seeds; default: made of pool and model.", "S", min=0)
    ] = None,
    out: Annotated[
        Path | None, o.option("--out", "Folder of the games; default: one in --logs-dir, named by the model.", "DIR")
    ] = None,
    logs_dir: o.LogsDir = Path("logs"),
    jobs: o.Jobs = None,
    limits: o.LimitOptions,
    abort_after: o.AbortAfter = 5,
    display: o.Display = "auto",
    as_json: o.AsJson = False,
    keys: o.Keys,
) -> None:
    """Rate a new model against a reference pool.

    It takes few games: the model meets the members of the pool that narrow its interval most, and has every seat
    equally often. After a kill the same command continues and repeats nothing. Needs the extra analysis.
    """
    with needed_by("rate"):
        from agentsim.studies.rating import Rating

    rating = Rating(
        model,
        pool,
        keys.env,
        games=games,
        width=width,
        entries=entries,
        set=overrides or (),
        seed=seed,
        out=out,
        logs_dir=logs_dir,
        **asdict(limits.given),
    )
    code = _played(rating, display, jobs=jobs, abort_after=abort_after)
    if rating.finished:
        _print(rating, as_json=as_json)
    if code:
        raise typer.Exit(code)


def _played(rating: Rating, display: o.DisplayMode, **options: Any) -> int:
    """Play the remaining rounds, and return the highest of their exit codes."""
    from agentsim.cli.display import shown_batch

    code = 0
    for number, batch in enumerate(rating.batches(**options)):
        if not number:
            _say_what_it_costs(rating)
        with shown_batch(display, rating.directory.name) as batch.watcher:
            result = batch.run()
        code = max(code, result.exit_code)
        if not result.complete:
            why = "not every game came to a result" if result.stopped is None else str(result.stopped)
            remark(f"{shortened(why, 600)}; the same command goes on", 1200)
            return result.exit_code
    return code


def _say_what_it_costs(rating: Rating) -> None:
    """Print the forecast of all games that may be played, unless only bots play."""
    from agentsim.cli.finish import money
    from agentsim.games import find
    from agentsim.runs.forecast import forecast

    scenario = rating.manifest.scenario(rating.manifest.games[0])
    expected, games = forecast(scenario, find(scenario.game), env=rating.env).total(), rating.blocks * rating.seats
    if expected.calls:
        usd, most = (None if each is None else each * games for each in (expected.usd, expected.most_usd))
        calls = counted(expected.calls * games, "call", form=",")
        calls = f"about {calls}, {money(usd)} (at most {money(most)} without re-asks)"
        remark(f"at most {counted(games, 'game')}; by a forecast from bots {calls}")


def _print(rating: Rating, *, as_json: bool) -> None:
    from agentsim.cli.finish import money

    found = rating.to_json()
    if as_json:
        say_json(found)
        return
    known = rating.placement
    wide = ", all that may be played; the interval is wider than asked" if found["wide"] else ""
    cost = f"; calls: {found['calls']}; cost: {money(found['cost_usd'], found['unpriced_calls'])}"
    say(safe(f"{rating.directory}: {counted(found['games'], 'game')}{wide}{cost if found['calls'] else ''}"))
    own = {"label": f"{rating.model} (rated)", "strength": found["strength"], "games": found["games"]}
    rows = [("model", "log strength", "95%", "rated is stronger", "games together")]
    for line in sorted([own, *found["members"]], key=lambda line: -line["strength"]["value"]):
        strength, stronger = line["strength"], f"{line['stronger']:.0%}" if "stronger" in line else "–"
        ends = f"{strength['low']:+.2f} to {strength['high']:+.2f}"
        rows.append((shortened(line["label"], 80), f"{strength['value']:+.2f}", ends, stronger, str(line["games"])))
    for row in aligned(rows):
        typer.echo(safe(row))
    chances = ", ".join(
        f"{index}: {chance:.0%}" for index, chance in enumerate(known.rank_probabilities, 1) if chance >= 0.005
    )
    say(f"rank among all {len(known.rank_probabilities)}: {chances}")
    if lost := len(found["lost_to_host"]):
        strength, many = found["without_host"], f"{lost} of {counted(found['games'], 'game')} lost decisions to a host"
        without = "no game is left without them"
        if strength is not None:
            ends = f"{strength['low']:+.2f} to {strength['high']:+.2f}"
            without = f"without them its log strength is {strength['value']:+.2f} ({ends})"
        say(f"hosts: {many}; {without}")
    say(f"times in each seat: {', '.join(map(str, found['seats']))}")
    if known.dispersion is not None and known.dispersion.too_much:
        say(
            f"warning: its results vary {known.dispersion.factor:.1f} times as much as strengths explain "
            f"(p = {known.dispersion.p:.3f}), and count for so much less"
        )
    say(safe(f"Suggested sentence: {rating.sentence}"))


def plan(
    *,
    source: o.DesignOption,
    effect: Annotated[float, o.option("--effect", "The size of effect to be found.", "SIZE")],
    pilot: Annotated[Path, o.path_option("--pilot", "A folder of games of this design.", "DIR")],
    of: o.EffectOptions,
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Compute how many games a design needs.

    It also says what they cost, and the power of the number that is planned. An effect of the given size is then found
    with a power of 80%, at 5% on both sides. The pilot says how blocks differ and what a game costs; it should have 20
    blocks. Needs the extra analysis.
    """
    from agentsim import api
    from agentsim.records.load import require_folder

    found = api.plan(source.path, require_folder(str(pilot), logs_dir), effect=effect, logs_dir=logs_dir, **asdict(of))
    if as_json:
        say_json(found.to_json())
        return
    print_panel(found.panel)
