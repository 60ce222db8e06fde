"""Names in replies: in any case, with or without accents, in quotes; the one that is spelled so comes first."""

from __future__ import annotations

import unicodedata

import pytest

from agentsim.engine.options import MISSING
from agentsim.engine.reading.fields import chosen, named, several
from tests.amounts import each_row

PLAYERS = ("Ana", "Ana Maria", "José", "李雷", "Zespół 1", "علی", "Straße", "Tom and Jo")


@each_row(
    "given, player",
    [
        *((name, name) for name in PLAYERS),
        *((unicodedata.normalize("NFD", name), name) for name in PLAYERS),
        *((f'"{name}"', name) for name in PLAYERS),
        *((f"**{name}**.", name) for name in PLAYERS),
        *((name.upper(), name) for name in PLAYERS),
        ("jose", "José"),
        ("zespol 1", "Zespół 1"),
        ("Zespół_1", "Zespół 1"),
        ("player ana maria", "Ana Maria"),
        ("AnaMaria", "Ana Maria"),
        ("「李雷」", "李雷"),
        ("ع\u200cلی", "علی"),
        ("STRASSE", "Straße"),
    ],
)
def test_a_name_is_read_however_it_is_spelled(given: str, player: str) -> None:
    assert named(given, PLAYERS) == player
    assert chosen(given, PLAYERS) == player


@each_row(
    "given, player",
    [
        ("José", "José"),
        ("Jose", "Jose"),
        ("JOSÉ", "José"),
        ("jose", "Jose"),
        ("“Jose\u0301”", "José"),
        ("Jose!", "Jose"),
    ],
)
def test_of_names_that_differ_by_an_accent_the_one_that_is_spelled_is_meant(given: str, player: str) -> None:
    assert named(given, ("José", "Jose")) == player


@each_row("given", ["Jos", "Ana Mar", "Ana or Ana Maria", "李", "not José", "-José", "Zespół", "Anamaria Ana"])
def test_what_is_no_name_is_none(given: str) -> None:
    assert named(given, PLAYERS) is None
    assert chosen(given, PLAYERS) is MISSING


def test_a_name_without_its_accent_that_two_have_is_nobody() -> None:
    assert named("jose", ("José", "Josè")) is None


@pytest.mark.parametrize(
    ("given", "players"),
    [
        ("Ana Maria, José and Ana", ["Ana Maria", "José", "Ana"]),
        ("Tom and Jo and 李雷", ["Tom and Jo", "李雷"]),
        ("[TOM AND JO]", ["Tom and Jo"]),
        ("Ana and José", ["Ana", "José"]),
    ],
)
def test_a_list_of_names_is_parted_between_them(given: str, players: list[str]) -> None:
    assert several(given, PLAYERS) == players
