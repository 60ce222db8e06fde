"""The table of pairs: whom it shows, its columns over time, and what it leaves to the export."""

from __future__ import annotations

from agentsim.engine.event import AGAINST, FOR, NAMED, NEITHER, Sign
from agentsim.history.pairs import Deed, Pair
from agentsim.report.derived_tables import MOST_PAIRS, MOST_PERIODS, pairs_table


def deed(at: int, what: str, sign: Sign = NEITHER, times: int = 1, **more: float) -> Deed:
    return Deed(at, what, sign, times, int(more.get("after_naming", 0)), more.get("amount"), int(more.get("turned", 0)))


def titles(last: int) -> dict[int, str]:
    return {number: f"Turn {number}: Somebody" for number in range(last + 1)}


ADA_BO = Pair(
    "Ada",
    "Bo",
    (
        deed(1, NAMED),
        deed(1, "wrote to", times=2),
        deed(1, "gave food", FOR, 2, after_naming=2, amount=7.5),
        deed(3, "voted no", AGAINST, turned=1),
    ),
    ((3, AGAINST),),
)
BO_ADA = Pair("Bo", "Ada", (deed(1, "wrote to"),), ())


def test_a_row_is_a_pair_and_a_column_a_round_in_which_anything_was_done() -> None:
    table = pairs_table([ADA_BO, BO_ADA], titles(9))
    assert table is not None
    assert table.columns == ("who to whom", "for", "against", "turned", "Turn 1", "Turn 3", "named in", "then for")
    assert table.title == "For and against each other"
    nothing = (None,) * 2
    assert table.rows == (
        (
            "Ada → Bo",
            2,
            1,
            "against in\u00a0Turn\u00a03",
            "wrote to\u00a0×2, +\u00a0gave food\u00a0×2 (7.5)",
            "−\u00a0voted no",
            1,
            1,
        ),
        ("Bo → Ada", None, None, None, "wrote to", None, *nothing),
    )
    assert "turns when" in table.note
    assert "Named in" in table.note


def test_where_there_is_only_talk_nothing_is_said_of_for_and_against() -> None:
    table = pairs_table([BO_ADA], titles(1))
    assert table is not None
    assert (table.title, table.columns) == ("Between each two", ("who to whom", "Turn 1"))
    assert "+" not in table.note


def test_there_is_no_table_where_nobody_did_anything_or_one_only_named_another() -> None:
    assert pairs_table([], {}) is None
    assert pairs_table([Pair("Ada", "Bo", (deed(1, NAMED),), ())], titles(1)) is None


def test_of_many_rounds_several_share_a_column_and_nothing_is_counted_twice() -> None:
    deeds = tuple(deed(at, "voted no", AGAINST) for at in range(1, 101))
    table = pairs_table([Pair("Ada", "Bo", deeds, ())], titles(100))
    assert table is not None
    spans = table.columns[2:]
    assert len(spans) == MOST_PERIODS
    assert (spans[0], spans[-1]) == ("Turn 1\u00a0to\u00a013", "Turn 92\u00a0to\u00a0100")
    counts = [int(str(cell).rpartition("×")[2]) for cell in table.rows[0][2:]]
    assert counts == [*[13] * 7, 9]
    assert table.rows[0][1] == sum(counts)


def test_of_many_pairs_the_busiest_are_shown_in_the_order_of_players_and_the_rest_is_said() -> None:
    many = [Pair("Ada", f"p{n}", (deed(1, "voted no", AGAINST, 1 + n % 50),), ()) for n in range(100)]
    table = pairs_table(many, titles(1))
    assert table is not None
    assert len(table.rows) == MOST_PAIRS
    assert min(row[1] for row in table.rows if isinstance(row[1], int)) == 36
    names = [str(row[0]).rpartition("p")[2] for row in table.rows]
    assert names == sorted(names, key=int)
    assert f"{MOST_PAIRS} busiest of 100" in table.note
