"""The interactions between players of every game: declared correctly, exported completely, shown as exported."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentsim import games
from agentsim.engine.event import AGAINST, FOR, NAMED, NEITHER, Past
from agentsim.engine.panel import DataTable
from agentsim.records.events import InteractionCount, Pair, pairs, told_events
from agentsim.records.load import load_history
from agentsim.records.tables import run_tables
from agentsim.report.game_panels import pairs_table
from tests.contract.golden import GOLDEN
from tests.contract.harness import GAMES, on_bots, some_bot

pytestmark = pytest.mark.parametrize("name", GAMES)


def exported(name: str) -> tuple[list[Pair], dict[int, str]]:
    """Return the pairs computed from the exported table alone, and the titles of rounds."""
    frame = run_tables(load_history(GOLDEN / f"{name}.json"))["pairs"]
    found: dict[tuple[Any, Any], list[InteractionCount]] = {}
    titles: dict[int, str] = {}
    for row in frame.rows:
        cells: dict[str, Any] = dict(zip(frame.columns, row, strict=True))
        titles[cells["round"]] = cells.pop("round_title")
        del cells["who_model"], cells["whom_model"]
        found.setdefault((cells.pop("who"), cells.pop("whom")), []).append(InteractionCount(**cells))
    return [Pair(*both, tuple(actions), ()) for both, actions in found.items()], titles


def test_dealings_are_between_players_each_deed_of_one_sign(name: str) -> None:
    played = on_bots(name, some_bot(games.find(name)))
    past = Past()
    signs: dict[str, int] = {}
    for told in played.log:
        for interaction in told.event.interactions(past):
            assert interaction.action, told.event
            assert interaction.sign in {FOR, NEITHER, AGAINST}
            assert signs.setdefault(interaction.action, interaction.sign) == interaction.sign, interaction.action
            assert (interaction.sign == NEITHER) or interaction.action != NAMED
        past.add(told.event)


def test_what_one_player_knows_of_is_part_of_what_happened(name: str) -> None:
    """From the events of one player: an event that refers to one not heard is left out, or counts as for all."""
    played = on_bots(name, some_bot(games.find(name)))
    players = list(dict.fromkeys(ask.request.player for wave, _ in played.waves for ask in wave.asks))
    seats = [player for player in players if not player.startswith("@")]

    def counts(found: list[Pair]) -> dict[tuple[str, str, int, str, int], int]:
        return {(p.who, p.whom, d.round, d.action, d.sign): d.times for p in found for d in p.actions}

    whole = counts(pairs(played.log, seats, {}))
    for player in seats:
        heard = counts(pairs([told for told in played.log if told.heard_by(player)], seats, {}))
        assert all(times <= whole.get(key, 0) for key, times in heard.items())


def test_the_table_from_the_export_is_that_of_the_page(name: str) -> None:
    again, titles = exported(name)
    history = load_history(GOLDEN / f"{name}.json")
    game = games.find(name)
    seats = [player.id for player in history.players if not player.id.startswith("@")]
    names = {player.id: player.name for player in history.players if player.name}
    found = pairs(told_events(history, game), seats, names)
    assert [sum(d.turned for d in pair.actions) for pair in again] == [len(pair.turns) for pair in found]
    assert pairs_table(again, titles) == _without_turns(pairs_table(found, titles))


def _without_turns(table: DataTable | None) -> DataTable | None:
    """Return the table without the turns, since an export has their order by round only."""
    if table is None or "turned" not in table.columns:
        return table
    at = table.columns.index("turned")
    cut = replace(
        table,
        columns=(*table.columns[:at], *table.columns[at + 1 :]),
        rows=tuple((*row[:at], *row[at + 1 :]) for row in table.rows),
    )
    return replace(cut, note=" ".join(part for part in _sentences(cut.note) if not part.startswith("A pair turns")))


def _sentences(text: str) -> list[str]:
    return [part if part.endswith(".") else f"{part}." for part in text.split(". ")]
