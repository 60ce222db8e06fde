"""What traders without intelligence, and with a little, achieve in the shipped experiments; and how quick the book is.

Efficiency and alpha are means over sessions of all seeds and periods, beside the values in the papers:

- Gode and Sunder, "Allocative Efficiency of Markets with Zero-Intelligence Traders", J. Political Economy 101(1), 1993,
  119-137: ZI-C 97 to 100 percent in each of five markets, human traders 90 to 100. The paper's 48 to 90 percent of
  ZI-U is left out: such traders trade every unit there is, so that the value depends on the schedules only, and the
  paper gives those as drawings only.
- Smith, "An Experimental Study of Competitive Market Behavior", J. Political Economy 70(2), 1962, 111-137, test 1:
  alpha of people falls over the periods of a session, from above 10 towards 5.
- Cliff, "Minimal-Intelligence Agents for Bargaining Behaviors in Market-Based Environments", HPL-97-91, 1997: ZIP
  prices find the equilibrium in cases in which ZI-C prices miss it, such as flat supply.

The last markets have Smith's schedules with other mechanisms: a call market with one call and with ten in a period, and
a market maker, whose stake is not part of the traders' gains.

    uv run python -m benchmarks.market
    uv run python -m benchmarks.market --sessions 100 --json
    uv run python -m benchmarks.market --orders 200000
"""

from __future__ import annotations

import argparse
import json
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.menu import ActionRefused
from agentsim.engine.simulate import Simulation, simulate
from agentsim.games.market import GAME
from agentsim.games.market.experiment import PeriodEnded
from agentsim.games.market.order_book import OrderBook
from agentsim.games.market.world import CAPITAL, Ledger, Side

CONFIGS = Path(__file__).parents[1] / "configs"
FLAT = "flat_supply"
MAKER: dict[str, Any] = {"artifacts": ["lmsr"], "settings": {"lmsr": {"payout": 400, "b": 10}}}
VARIED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    # a shipped config, and changes to the game's table and its experiment
    FLAT: ("smith_1962", {}, {"sellers": [[200]] * 11}),
    "call_market_10": ("call_market", {}, {"periods": 5, "period_rounds": 10}),
    "call_market_1": ("call_market", {}, {"periods": 5}),
    "market_maker": ("call_market", MAKER, {"periods": 5, "period_rounds": 30}),
}
MARKETS = (*(f"gode_sunder_{number}" for number in range(1, 6)), "smith_1962", *VARIED)
TRADERS = ("zi_c", "zip", "truthful")
REPORTED = {
    ("gode_sunder", "zi_c"): "97-100%",
    ("smith_1962", "zip"): "people: alpha from above 10 to 5",
    (FLAT, "zi_c"): "Cliff: misses the price",
    (FLAT, "zip"): "Cliff: finds the price",
}


@dataclass(frozen=True)
class Measured:
    """Many sessions of one market with one kind of trader. `efficiencies` and `alphas` are by period."""

    market: str
    trader: str
    sessions: int
    efficiency: float
    deviation: float
    mean_price: float | None
    equilibrium_price: float
    quantity: float
    equilibrium_quantity: int
    efficiencies: tuple[float, ...]
    alphas: tuple[float | None, ...]

    @property
    def reported(self) -> str:
        """The value in the papers, or ""."""
        name = "gode_sunder" if self.market.startswith("gode_sunder") else self.market
        return REPORTED.get((name, self.trader), "")


def scenario(market: str) -> tuple[dict[str, Any], list[str]]:
    """Return the game's table and the players of a shipped config, or of a variant of one."""
    name, other, experiment = VARIED.get(market, (market, {}, {}))
    table = tomllib.loads((CONFIGS / f"{name}.toml").read_text(encoding="utf-8"))
    players = [f"{each['id']}{number}" for each in table["players"] for number in range(1, each["count"] + 1)]
    config: dict[str, Any] = {**table["game_config"], **other}
    config["experiment"] |= experiment
    return config, players


def session(market: str, trader: str, seed: int) -> Simulation:
    """Play one session in memory."""
    config, players = scenario(market)
    return simulate(GAME, config, players, bot=trader, seed=seed, check=False)


def measure(market: str, trader: str, sessions: int) -> Measured:
    """Play so many sessions, each with a seed of its own."""
    played: list[list[PeriodEnded]] = [session(market, trader, seed).events(PeriodEnded) for seed in range(sessions)]
    by_period = list(zip(*played, strict=True))
    every = [period for each in played for period in each]
    return Measured(
        market=market,
        trader=trader,
        sessions=sessions,
        efficiency=100 * mean(each.allocative_efficiency for each in every),
        deviation=100 * stdev(each.allocative_efficiency for each in every) if len(every) > 1 else 0.0,
        mean_price=_mean(each.mean_price for each in every),
        equilibrium_price=every[0].equilibrium_price,
        quantity=mean(each.quantity for each in every),
        equilibrium_quantity=every[0].equilibrium_quantity,
        efficiencies=tuple(100 * mean(each.allocative_efficiency for each in period) for period in by_period),
        alphas=tuple(_mean(each.alpha for each in period) for period in by_period),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None, or None. A period may have no trade."""
    found = [value for value in values if value is not None]
    return mean(found) if found else None


def orders_per_second(count: int, traders: int = 100) -> tuple[float, int]:
    """Return the limit orders per second of CPU time that one book processes, and the number of trades.

    The orders are random, of many traders, and some of them are cancelled.
    """
    ledger, rng = Ledger(), Stream("benchmark")
    owners = [f"T{number}" for number in range(traders)]
    for owner in owners:
        ledger.open(owner)
        ledger.issue(owner, CAPITAL, 10**9)
        ledger.issue(owner, "wheat", 10**6)
    book = OrderBook("wheat", ledger)
    sides: tuple[Side, Side] = ("buy", "sell")
    drawn = [(rng.pick(owners), rng.pick(sides), rng.integer(80, 120), rng.integer(1, 10)) for _ in range(count)]
    trades = 0
    started = time.process_time()
    for number, (owner, side, price, quantity) in enumerate(drawn):
        try:
            trades += len(book.place(owner, side, price, quantity).trades)
            if number % 10 == 0 and (own := book.of(owner)):
                book.cancel(owner, own[0].number)
        except ActionRefused:
            continue
    return count / (time.process_time() - started), trades


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def report(results: Sequence[Measured]) -> Iterator[str]:
    """Print the results as lines, with the papers' values if there are any."""
    columns = f"{'market':15}{'trader':10}{'efficiency':>16}{'price (eq.)':>16}{'units (eq.)':>14}"
    yield f"{columns}  {'alpha by period':32}reported"
    for one in results:
        alphas = " ".join(map(_shown, one.alphas))
        efficiency = f"{one.efficiency:.1f}% +-{one.deviation:.1f}"
        price = f"{_shown(one.mean_price)} ({one.equilibrium_price:g})"
        units = f"{one.quantity:.1f} ({one.equilibrium_quantity})"
        yield f"{one.market:15}{one.trader:10}{efficiency:>16}{price:>16}{units:>14}  {alphas:32}{one.reported}"


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", maxsplit=1)[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=30, help="of every market and trader")
    parser.add_argument("--markets", nargs="+", choices=MARKETS, default=MARKETS, metavar="NAME", help="which")
    parser.add_argument("--orders", type=int, default=100_000, help="through one book")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each result instead of a table")
    given = parser.parse_args(words)
    results = [measure(market, trader, given.sessions) for market in given.markets for trader in TRADERS]
    rate, trades = orders_per_second(given.orders)
    if given.json:
        for one in results:
            print(json.dumps({**asdict(one), "reported": one.reported}))
        print(json.dumps({"orders": given.orders, "orders_per_second": rate, "trades": trades}))
        return
    for line in report(results):
        print(line)
    print(f"{given.orders} orders through one book: {rate:,.0f} a second, {trades} trades")


if __name__ == "__main__":
    main()
