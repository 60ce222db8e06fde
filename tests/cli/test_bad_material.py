"""Broken items, prompts, seats and settings: exit 2, one line of what, where and what would do, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import TRIO, agentsim, snapshot

PAIR = '[[players]]\nid = "A"\nmodel = "bot/random"\n\n[[players]]\nid = "B"\nmodel = "bot/random"\n'
ITEM = '{"Name": "Lamp", "Quality": 5, "IsRequired": true}'
ID = "must be 1 to 32 of the characters A-Z a-z 0-9 _ -, the first a letter or a digit, found"
NO_KEY = "looks like a key or password; keys come from the environment"
KEY = "sk-abcdefghijklmnop12345678"

# What stands in items.json, and what is said of it behind its name.
ITEMS: dict[str, tuple[bytes, str]] = {
    "half a file": (b"[", "line 1, column 2: not JSON: "),
    "nothing": (b"", "line 1, column 1: not JSON: "),
    "two lists": (b"[] []", "line 1, column 4: not JSON: "),
    "an object": (b"{}", "must be a list of 1 to 500 items, found an object"),
    "a text": (b'"Lamp"', "must be a list of 1 to 500 items, found 'Lamp'"),
    "an empty list": (b"[]", "must be a list of 1 to 500 items, found an empty list"),
    "too deep": (b"[" * 5000, "nested too deep; must be a list of items"),
    "numbers": (b"[1]", "item 1: must be an object with Name, Quality and IsRequired, found 1"),
    "keys missing": (b'[{"Name": "Lamp"}]', "item 1: Quality and IsRequired are missing"),
    "a key too many": (
        f'[{ITEM[:-1]}, "Price": 1}}]'.encode(),
        "item 1: unknown key 'Price' (valid: Name, Quality and IsRequired)",
    ),
    "quality too high": (
        f"[{ITEM}, {ITEM.replace('5', '500')}]".encode(),
        "item 2: Quality must be a whole number from 1 to 100, found 500",
    ),
    "quality in quotes": (
        f"[{ITEM.replace('5', chr(34) + '5' + chr(34))}]".encode(),
        "item 1: Quality must be a whole number from 1 to 100, found '5'",
    ),
    "quality that is no number": (
        f"[{ITEM.replace('5', 'NaN')}]".encode(),
        "item 1: Quality must be a whole number from 1 to 100, found nan",
    ),
    "required as a number": (
        f"[{ITEM.replace('true', '1')}]".encode(),
        "item 1: IsRequired must be true or false, found 1",
    ),
    "no name": (
        f"[{ITEM.replace('Lamp', '')}]".encode(),
        "item 1: Name must be 1 to 80 visible characters on one line, without space at its ends, found ''",
    ),
    "a name that drives the terminal": (
        f"[{ITEM.replace('Lamp', chr(92) + 'u001b[2J')}]".encode(),
        "item 1: Name must be 1 to 80 visible characters on one line, without space at its ends, found '\\x1b[2J'",
    ),
}


def auction(settings: str) -> str:
    return f'game = "auction"\nseed = 1\n\n[game_config]\n{settings}\n\n{PAIR}'


def monopoly(settings: str, seats: str = PAIR) -> str:
    return f'game = "monopoly"\nseed = 1\n\n[game_config]\n{settings}\n\n{seats}'


def seat(line: str) -> str:
    """The trio with another line for player C."""
    return f"{TRIO}{line}\n"


def second(name: str) -> str:
    return TRIO.replace('"B"', name)


# A text for trio.toml beside the files of `material`, and how the line begins behind `trio.toml: `.
FILES: dict[str, tuple[str, str]] = {
    "items missing": (auction(""), 'game_config.items: is missing (valid: a .json file or a table or "random")'),
    "items not there": (auction('items = "no.json"'), "game_config.items: no such file: no.json"),
    "items of another kind": (
        auction('items = "trio.toml"'),
        "game_config.items: must be a .json file or \"random\", found 'trio.toml'",
    ),
    "items outside": (auction('items = "../x.json"'), "game_config.items: ../x.json leads out of {cwd} (valid: a file"),
    "items a list": (auction("items = [1]"), 'game_config.items: must be a .json file or a table or "random", found a'),
    "items too large": (auction('items = "large.json"'), "game_config.items: large.json is larger than 256 KiB"),
    "items not UTF-8": (
        auction('items = "latin.json"'),
        "game_config.items: latin.json is not UTF-8 at byte 0 (line 1)",
    ),
    "no such format": (
        auction('items = "random"\nformat = "dutch"'),
        'game_config.format: must be one of "ascending", "sealed_first_price", "sealed_second_price", "all_pay", found',
    ),
    "no budget": (
        auction('items = "random"\nbudget = 0'),
        "game_config.budget: must be a whole number from 1 to 1000000000, found 0",
    ),
    "a budget in quotes": (
        auction('items = "random"\nbudget = "100"'),
        'game_config.budget: must be a whole number from 1 to 1000000000, found "100"',
    ),
    "iterations of a sealed bid": (
        auction('items = "random"\nformat = "all_pay"\nmax_iterations = 3'),
        "game_config: max_iterations is for ascending auctions; each team makes one all_pay bid an item",
    ),
    "no such folder of prompts": (
        auction('items = "random"\nprompts_dir = "nope"'),
        "game_config.prompts_dir: no such folder: nope",
    ),
    "a folder without prompts": (
        auction('items = "random"\nprompts_dir = "folder"'),
        "game_config.prompts_dir: there is no .txt file in 'folder'",
    ),
    "a file for a folder of prompts": (
        auction('items = "random"\nprompts_dir = "latin.txt"'),
        "game_config.prompts_dir: not a folder: latin.txt",
    ),
    "one team": (
        auction('items = "random"').partition('\n[[players]]\nid = "B"')[0],
        "players: an auction needs teams that bid against each other (valid: 2 or more)",
    ),
    "no turns": (monopoly("max_turns = 0"), "game_config.max_turns: must be a whole number from 1 to 100000, found 0"),
    "a mistyped setting": (monopoly("max_turn = 3"), "game_config.max_turn: unknown key (did you mean max_turns?)"),
    "nine at a board": (
        monopoly("", '[[players]]\nid = "p"\ncount = 9\nmodel = "bot/shark"\n'),
        "players: Monopoly is for 2 to 8 players (valid: 2 to 8)",
    ),
    "another game's bot": (
        monopoly("", PAIR.replace("bot/random", "bot/grudge")),
        'players.0.model: monopoly has no "bot/grudge" (did you mean bot/turtle?)',
    ),
    "a prompt with a NUL": (seat('prompt_file = "nul.txt"'), "players.2.prompt_file: nul.txt holds a NUL at byte 1"),
    "a prompt not UTF-8": (
        seat('prompt_file = "latin.txt"'),
        "players.2.prompt_file: latin.txt is not UTF-8 at byte 3 (line 1)",
    ),
    "a prompt too large": (
        seat('prompt_file = "large.txt"'),
        "players.2.prompt_file: large.txt is larger than 256 KiB",
    ),
    "an unknown placeholder in a file": (
        seat('prompt_file = "nobody.txt"'),
        "players.2.prompt_file: has an unknown placeholder ${nobody} (known: ${player}, ${players}, ${others}, ${game}",
    ),
    "an open placeholder": (
        seat('prompt_file = "open.txt"'),
        "players.2.prompt_file: has a ${ that is not closed; $$ is a dollar",
    ),
    "a key in a prompt": (seat(f'prompt = "my key is {KEY}"'), f"players.2.prompt: {NO_KEY}"),
    "a key in a prompt's file": (
        seat('prompt_file = "key.txt"'),
        f"players.2.prompt_file: the file holds what {NO_KEY}",
    ),
    "no name of a prompt": (seat('prompt_file = ""'), "players.2.prompt_file: must name a file, found ''"),
    "a prompt twice": (
        seat('prompt_file = "key.txt"\nprompt = "x"'),
        "players.2: prompt and prompt_file exclude each other",
    ),
    "a prompt that is a number": (seat("prompt = 5"), "players.2.prompt: must be text, found 5"),
    "players in one table": (
        'game = "agent_island"\n[players]\nid = "x"\n',
        "players: must be a list, each a table, found a table",
    ),
    "an id with a space": (second('"b c"'), f'players.1.id: {ID} "b c"'),
    "an id of nothing": (second('""'), f'players.1.id: {ID} ""'),
    "an id of staff": (second('"@b"'), f'players.1.id: {ID} "@b"'),
    "an id too long": (second(f'"{"b" * 33}"'), f'players.1.id: {ID} "bbb'),
    "an id that is a number": (second("7"), f"players.1.id: {ID} 7"),
    "no id": (TRIO.replace('id = "B"\n', ""), "players.1: id is missing"),
    "two names of one key": (seat('player_id = "x"'), "players.2: id and player_id are two names of one key"),
    "no model": (TRIO.replace('model = "bot/loyal"\n', ""), "players.2.model: is missing, and [defaults] has none"),
    "no models in a list": (
        TRIO.replace('"bot/loyal"', "[]"),
        "players.2.model: must be text or a list of at least 1, each text, found a list of 0",
    ),
    "a bot in a list": (
        TRIO.replace('"bot/loyal"', '["bot/loyal", "bot/random"]'),
        "players.2.model: bot/loyal can always be reached, and stands alone: a list is of models that may fail",
    ),
    "nobody": (seat("count = 0"), "players.2.count: must be a whole number from 1 to 20000, found 0"),
    "too many": (seat("count = 100000"), "players.2.count: must be a whole number from 1 to 20000, found 100000"),
    "too warm": (seat("temperature = 3"), "players.2.temperature: must be a number from 0 to 2, found 3"),
    "a temperature that is none": (seat("temperature = nan"), "players.2.temperature: must be a finite number, found"),
    "a temperature of true": (seat("temperature = true"), "players.2.temperature: must be a number from 0 to 2, found"),
    "no tokens": (seat("max_tokens = 0"), "players.2.max_tokens: must be a whole number from 1 to 10000000, found 0"),
    "no time": (seat("timeout_s = 0"), "players.2.timeout_s: must be a number above 0 and at most 86400, found 0"),
    "all the time there is": (seat("timeout_s = inf"), "players.2.timeout_s: must be a finite number, found inf"),
    "asked again for what": (
        seat('reask_on = ["bad"]'),
        'players.2.reask_on.0: must be one of "unreadable", "ambiguous", "illegal", found "bad"',
    ),
    "a wait below zero": (
        seat("retry_wait_s = [1, -1]"),
        "players.2.retry_wait_s.1: must be a number from 0 to 86400, found -1",
    ),
    "what is ours": (
        seat('client_kwargs = { model = "x" }'),
        "players.2.client_kwargs: `model` cannot be set there; what sets it is `model`",
    ),
    "a key for the client": (
        seat(f'client_kwargs = {{ api_key = "{KEY}" }}'),
        f"players.2.client_kwargs.api_key: {NO_KEY}",
    ),
    "calls below zero": (
        seat("[limits]\nmax_calls = -1"),
        "limits.max_calls: must be a whole number of at least 0, found",
    ),
    "no calls at once": (
        seat("[limits]\nconcurrency = 0"),
        "limits.concurrency: must be a whole number from 1 to 10000",
    ),
    "more than all": (
        seat("[limits]\nmax_fallback_rate = 2"),
        "limits.max_fallback_rate: must be a number from 0 to 1",
    ),
    "half a price": (
        seat('[prices."a/b"]\ninput = 1'),
        'prices."a/b".output: is missing (valid: a number of at least 0)',
    ),
    "an address without http": (
        seat('[providers.lab]\nbase_url = "localhost:8000"'),
        "providers.lab.base_url: must look like http://host:port/v1",
    ),
    "a password in an address": (
        seat('[providers.lab]\nbase_url = "http://u:secret@h/v1"'),
        f"providers.lab.base_url: {NO_KEY}",
    ),
    "a key for the name of a variable": (
        seat(f'[providers.openai]\napi_key_env = "{KEY}"'),
        "providers.openai.api_key_env:",
    ),
    "no such mode": (
        seat('[providers.openai]\nstructured = "xml"'),
        'providers.openai.structured: must be one of "json_schema", "tool", "json_object", "prompt", "auto"',
    ),
    "a seed in quotes": (TRIO.replace("7", '"7"'), "seed: must be a whole number from 0 to 9223372036854775807, found"),
    "a seed that is a date": (TRIO.replace("7", "2020-01-01"), "seed: must be in quotes, found the date 2020-01-01"),
    "a seed too large": (TRIO.replace("7", "9" * 20), "seed: must be a number of at most 64 bits"),
    "a name with a path": (
        f'name = "a/b"\n{TRIO}',
        'name: must be 1 to 64 of the characters A-Z a-z 0-9 . _ -, the first a letter or a digit, found "a/b"',
    ),
    "defaults that are none": (f"defaults = 3\n{TRIO}", "defaults: must be a table, found 3"),
    "a round that is not played": (
        seat("[[game_config.round_overrides]]\nround = 9"),
        'game_config.round_overrides: there is no round 9 with 3 players (valid: 1 to 2, or "final")',
    ),
    "a table twice": (seat("[limits]\n[limits]"), "not TOML: Cannot declare ('limits',) twice"),
    "JSON": ('{"game": "agent_island"}', "not TOML: Invalid statement (at line 1, column 1)"),
    "YAML": ("game: agent_island\n", "not TOML: Expected '=' after a key in a key/value pair (at line 1, column 5)"),
    "a script of an unknown error": (
        TRIO.replace("bot/loyal", "script:script.json"),
        "players.2.model: {cwd}/script.json: 'C/vote', reply 1: there is no error 'x' (valid: timeout, rate_limited,",
    ),
}

MATERIAL: dict[str, bytes] = {
    "large.json": b" " * (256 * 1024 + 1),
    "latin.json": b"\xff",
    "nul.txt": b"a\0b",
    "latin.txt": b"caf\xe9",
    "large.txt": b"x" * (256 * 1024 + 1),
    "nobody.txt": b"You are ${nobody}.",
    "open.txt": b"It costs ${",
    "key.txt": f"my key is {KEY}".encode(),
    "script.json": b'{"C/vote": [{"error": "x"}]}',
}


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of broken files, in which nothing is ever written but `trio.toml` and `items.json`."""
    folder = tmp_path_factory.mktemp("material")
    (folder / "folder").mkdir()
    for name, content in MATERIAL.items():
        (folder / name).write_bytes(content)
    return folder


def refused(folder: Path, text: str, line: str) -> None:
    """Neither validate nor run takes the text; both say the line, and that alone, and leave everything as it was."""
    (folder / "trio.toml").write_text(text, encoding="utf-8")
    before = snapshot(folder)
    for command in ("validate", "run"):
        said = agentsim(command, "--config", "trio.toml", cwd=folder)
        expected = f"trio.toml: {line}".replace("{cwd}", str(folder))
        assert said.line[: len(expected)] == expected
        assert (said.code, said.out) == (2, "")
        assert snapshot(folder) == before
        assert KEY not in said.err


@pytest.mark.parametrize(("text", "line"), FILES.values(), ids=FILES)
def test_a_scenario_that_cannot_be_played(text: str, line: str, material: Path) -> None:
    refused(material, text, line)


@pytest.mark.parametrize(("content", "line"), ITEMS.values(), ids=ITEMS)
def test_items_that_cannot_be_sold(content: bytes, line: str, material: Path) -> None:
    (material / "items.json").write_bytes(content)
    refused(material, auction('items = "items.json"'), f"game_config.items: items.json: {line}")


def test_what_stands_beside_the_mistakes_is_none(material: Path) -> None:
    """The scenarios that are broken above are sound where they are not broken."""
    (material / "items.json").write_text(f"[{ITEM}]", encoding="utf-8")
    for text in (auction('items = "items.json"'), auction('items = "random"'), monopoly("max_turns = 3"), TRIO):
        (material / "trio.toml").write_text(text, encoding="utf-8")
        said = agentsim("validate", "--config", "trio.toml", cwd=material)
        assert (said.code, said.err) == (0, "")
