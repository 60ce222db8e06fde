"""What fallbacks decided is told beside every rating: by `report`, `batch` and `runs`, loudly where it is much."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import Said, agentsim
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Raw

pytestmark = pytest.mark.usefixtures("without_workers", "few_draws")

QUIET = ("--display", "none")
PLAYERS = "".join(f'\n[[players]]\nid = "{player}"\n' for player in "ABC")


class Fitful(FakeServer):
    """Answers of the games in `lost` are thinking that does not end; a game is known by its scenario's persona."""

    lost: frozenset[str] = frozenset()

    def __init__(self) -> None:
        super().__init__(self._said)

    def _said(self, body: dict[str, Any]) -> str:
        return (
            "<think>" if any(f"In {game}." in str(body["messages"]) for game in self.lost) else varied_by_schema(body)
        )


@pytest.fixture
def server() -> Iterator[Fitful]:
    fake = Fitful()
    with fake.in_thread():
        yield fake


def played(server: Fitful, tmp_path: Path, games: int, lost: int) -> list[Said]:
    """So many runs in the folder `logs`, of which the first are fallbacks from beginning to end."""
    server.lost = frozenset(f"game{number}x" for number in range(lost))
    said = []
    for number in range(games):
        head = f'game = "agent_island"\nseed = {number}\n[defaults]\nmodel = "lab/echo"\nprompt = "In game{number}x."\n'
        config = tmp_path / "game.toml"
        config.write_text(f'{head}[providers.lab]\nbase_url = "{server.url()}"\n{PLAYERS}', encoding="utf-8")
        words = ("--config", "game.toml", "--name", f"run{number}", "--no-html", *QUIET)
        said.append(agentsim("run", *words, cwd=tmp_path))
    return said


def reported(tmp_path: Path, *words: str) -> dict[str, Any]:
    said = agentsim("report", "logs", "--pool", "--json", *words, cwd=tmp_path)
    assert said.code == 0, said.err
    found: dict[str, Any] = json.loads(said.out)
    return found


def test_ten_games_of_nothing_but_fallbacks_are_not_ranked_without_a_word(server: Fitful, tmp_path: Path) -> None:
    runs = played(server, tmp_path, 10, lost=10)
    assert {(said.code, said.line) for said in runs} == {
        (4, "degraded: fallbacks decided more than 20%: 9 of 9 (100%); by cause: model 9")
    }
    first, second, third, *_ = agentsim("report", "logs", "--pool", cwd=tmp_path).out.splitlines()
    assert first == "logs: 10 games of agent_island, by player"
    assert second.startswith("warning: fallbacks: 10 of 10 games with more than 10%")
    assert third.startswith("warning: fallbacks decided more than 5% of A ")
    assert all(f" {player} " in third for player in "ABC")
    found = reported(tmp_path)
    assert (len(found["above"]), found["few_fallbacks"]["lines"]) == (10, [])


def test_every_rating_stands_beside_the_one_without_the_games_of_too_many_fallbacks(
    server: Fitful, tmp_path: Path
) -> None:
    played(server, tmp_path, 5, lost=2)
    found = reported(tmp_path)
    assert (found["games"], found["max_fallbacks"], found["above"]) == (5, 0.1, ["run0", "run1"])
    assert {line["games"] for line in found["lines"]} == {5}
    kept = {line["label"]: line for line in found["few_fallbacks"]["lines"]}
    assert {line["games"] for line in kept.values()} == {3}
    assert sum(line["fallbacks"] for line in kept.values()) == 0
    assert sum(line["fallbacks"] for line in found["lines"]) == 18
    winners = [
        json.loads((tmp_path / "logs" / f"run{game}.json").read_text("utf-8"))["outcome"]["winner"]
        for game in (2, 3, 4)
    ]
    assert {label: line["wins"] for label, line in kept.items()} == {player: winners.count(player) for player in "ABC"}
    out = agentsim("report", "logs", "--pool", "--exploratory", cwd=tmp_path).out
    assert "warning: fallbacks: 2 of 5 games with more than 10%" in out
    heads = [row for row in out.splitlines() if "win rate" in row or "first of all" in row]
    assert all(f"{rating}*" in heads[0] for rating in ("games", "win rate", "mean rank", "rating"))
    assert all(f"{rating}*" in heads[1] for rating in ("first of all", "rating", "expected"))


def test_a_higher_limit_keeps_every_game(server: Fitful, tmp_path: Path) -> None:
    played(server, tmp_path, 3, lost=1)
    found = reported(tmp_path, "--max-fallbacks", "1")
    assert (found["above"], found["few_fallbacks"]) == ([], None)
    out = agentsim("report", "logs", "--pool", "--max-fallbacks", "1", cwd=tmp_path).out
    assert "\nfallbacks: 0 of 3 games with more than 100%\n" in out
    assert "win rate*" not in out


def test_the_page_of_many_games_says_it_at_its_head_and_of_each_game(server: Fitful, tmp_path: Path) -> None:
    played(server, tmp_path, 3, lost=1)
    assert agentsim("report", "logs", "--pool", "--html", cwd=tmp_path).code == 0
    page = (tmp_path / "logs" / "index.html").read_text("utf-8")
    head, _, rest = page.partition("</header>")
    assert "1 of 3 games with more than 10%" in head
    assert '<p class="notice">' in head
    assert rest.partition('id="games-title"')[2].count("100%; by cause: model 9</td>") == 1


def test_the_list_of_runs_says_the_share_and_warns(server: Fitful, tmp_path: Path) -> None:
    played(server, tmp_path, 3, lost=1)
    said = agentsim("runs", cwd=tmp_path)
    cells = {row.split()[0]: row.split() for row in said.out.splitlines()[1:]}
    assert (cells["run0"][8], cells["run1"][8]) == ("100%", "0%")
    assert said.line == "warning: fallbacks decided more than 5% of run0 100%"
    rows = {row["name"]: row["fallbacks"] for row in json.loads(agentsim("runs", "--json", cwd=tmp_path).out)}
    assert (rows["run0"]["share"], rows["run0"]["by_model"]["lab/echo"]["fallbacks"]) == (1.0, 9)


def test_a_batch_says_the_share_of_all_its_games(server: Fitful, tmp_path: Path) -> None:
    played(server, tmp_path, 1, lost=1)
    said = agentsim("batch", "--config", "game.toml", "--games", "2", "--out", "b", *QUIET, cwd=tmp_path)
    assert said.code == 4
    assert "warning: fallbacks: 18 of 18 (100%)" in said.out
    assert "degraded: 2 games of this session" in said.out
    again = agentsim("batch", "--config", "game.toml", "--games", "2", "--out", "b", "--json", *QUIET, cwd=tmp_path)
    assert json.loads(again.out)["fallbacks"]["share"] == 1.0


class Unwell(Fitful):
    """As `Fitful`, but the games in `lost` are answered by an error of the host."""

    def _said(self, body: dict[str, Any]) -> Any:
        lost = any(f"In {game}." in str(body["messages"]) for game in self.lost)
        failing = lost and "You are player A." in str(body["messages"])
        return Raw(500, {"error": "unwell"}) if failing else varied_by_schema(body)


def test_ratings_stand_with_and_without_the_games_that_lost_decisions_to_a_host(tmp_path: Path) -> None:
    with (fake := Unwell()).in_thread():
        played(fake, tmp_path, 4, lost=1)
    found = reported(tmp_path)
    assert found["lost_to_host"] == ["run0"]
    assert {line["games"] for line in found["without_host"]["lines"]} == {3}
    lost = {line["label"]: line["lost_to_host"] for line in found["lines"]}
    assert (lost["A"] > 0, lost["B"], lost["C"]) == (True, 0, 0)
    out = agentsim("report", "logs", "--pool", "--exploratory", cwd=tmp_path).out
    assert "hosts: 1 of 4 games lost decisions to a host: --exploratory has standings without these games" in out
    assert "Ratings without games lost to hosts" in out
    assert "host " in agentsim("runs", cwd=tmp_path).out
