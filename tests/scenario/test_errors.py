"""Every way in which a scenario can be wrong, and the one line that says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.letters import NAME_RULE
from agentsim.errors import ScenarioError
from agentsim.games.society.config import SocietyConfig
from agentsim.scenario import load
from agentsim.scenario.validation import validated
from tests.scenario.parlour import SEATS, refused, written

MODEL_SHAPE = (
    "must be provider/model such as openai/gpt-5-mini, bot/<policy>, human, web, script:<file> or local/<model>; "
    "--provider P puts P/ before every model name"
)
ID_SHAPE = f"must be {NAME_RULE}"
TOP = "defaults, game, game_config, interviews, limits, name, people, players, prices, providers, seed, staff"
LAB = '[providers.lab]\nbase_url = "http://127.0.0.1:9/v1"\n'
ADVICE = "looks like a key or password; keys come from the environment"

# What is added to two good seats (the first line goes to player B), and the line after the file's name.
ADDED = {
    "typo": ("temprature = 1", "players.1.temprature: unknown key (did you mean temperature?)"),
    "case": ("MODEL = 'human'", "players.1.MODEL: unknown key (did you mean model?)"),
    "unknown table": ("[zebra]", f"zebra: unknown key (valid: {TOP})"),
    "typo in game_config": ("[game_config]\nround = 3", "game_config.round: unknown key (did you mean rounds?)"),
    "typo deep in game_config": (
        "[[game_config.guests]]\nname = 'Z'\nchiars = [1]",
        "game_config.guests.0.chiars: unknown key (did you mean chairs?)",
    ),
    "typo in staff": ("[staff.moderator]\nmodle = 'human'", "staff.moderator.modle: unknown key (did you mean model?)"),
    "typo beats missing": ("[prices.'lab/x']\ninptu = 1", 'prices."lab/x".inptu: unknown key (did you mean input?)'),
    "cold": ("temperature = -1", 'players.1.temperature: must be a number from 0 to 2 or "default", found -1'),
    "hot": ("temperature = 2.5", 'players.1.temperature: must be a number from 0 to 2 or "default", found 2.5'),
    "a word": ("temperature = 'hot'", 'players.1.temperature: must be a number from 0 to 2 or "default", found "hot"'),
    "true is no number": (
        "temperature = true",
        'players.1.temperature: must be a number from 0 to 2 or "default", found true',
    ),
    "a level": (
        "reasoning = 'minimal'",
        'players.1.reasoning: must be one of "none", "low", "medium", "high" or a whole number from 1 to 1000000 or '
        '"default", found "minimal"',
    ),
    "a seed": (
        "seed = -1",
        'players.1.seed: must be a whole number of at least 0 and below 2147483648 or "default", found -1',
    ),
    "logprobs are on or off": ("logprobs = 5", "players.1.logprobs: must be true or false, found 5"),
    "a setting twice": (
        "seed = 1\nclient_kwargs = {seed = 2}",
        "players.1: seed stands both here and in client_kwargs",
    ),
    "nan": ("temperature = nan", "players.1.temperature: must be a finite number, found nan"),
    "infinity": ("timeout_s = inf", "players.1.timeout_s: must be a finite number, found inf"),
    "no time": ("timeout_s = 0", "players.1.timeout_s: must be a number above 0 and at most 86400, found 0"),
    "half a token": (
        "max_tokens = 1.5",
        'players.1.max_tokens: must be a whole number from 1 to 10000000 or "default", found 1.5',
    ),
    "no tokens": (
        "max_tokens = 0",
        'players.1.max_tokens: must be a whole number from 1 to 10000000 or "default", found 0',
    ),
    "fault": (
        "reask_on = ['unreadable', 'rude']",
        'players.1.reask_on.1: must be one of "unreadable", "ambiguous", "illegal", found "rude"',
    ),
    "wait": (
        "retry_wait_s = 'long'",
        "players.1.retry_wait_s: must be a number from 0 to 86400 or a list of at least 1, "
        'each a number from 0 to 86400, found "long"',
    ),
    "wait in a list": (
        "retry_wait_s = [1, -2]",
        "players.1.retry_wait_s.1: must be a number from 0 to 86400, found -2",
    ),
    "bare model": ("model = 'gpt-4'", f'players.1.model: {MODEL_SHAPE}, found "gpt-4"'),
    "nameless bot": ("model = 'bot/'", f'players.1.model: {MODEL_SHAPE}, found "bot/"'),
    "unknown bot": (
        "model = 'bot/crefull'",
        'players.1.model: parlour has no "bot/crefull" (did you mean bot/careful?) '
        "(valid: bot/bold, bot/careful, bot/random)",
    ),
    "script": ("model = 'script:no.jsonl'", "players.1.model: no such file: no.jsonl (looked at {folder}/no.jsonl)"),
    "weights": ("model = 'local/no.gguf'", "players.1.model: no such file: no.gguf (looked at {folder}/no.gguf)"),
    "long id": (f"[[players]]\nid = '{'ż' * 33}'", f'players.2.id: {ID_SHAPE}, found "{"ż" * 33}"'),
    "no letter in an id": ("[[players]]\nid = ''", f'players.2.id: {ID_SHAPE}, found ""'),
    "id of staff": ("[[players]]\nid = '@b'", f'players.2.id: {ID_SHAPE}; @ (U+0040) cannot stand there, found "@b"'),
    "an id that is turned around": (
        '[[players]]\nid = "\\u202Ea"',
        f'players.2.id: {ID_SHAPE}; U+202E cannot stand there, found "a"',
    ),
    "an id with a joiner": (
        '[[players]]\nid = "می\\u200Cر"',
        f'players.2.id: {ID_SHAPE}; U+200C cannot stand there, found "می\u200cر"',
    ),
    "an id of two lines": (
        '[[players]]\nid = "a\\nb"',
        f'players.2.id: {ID_SHAPE}; U+000A cannot stand there, found "a b"',
    ),
    "markup in an id": (
        '[[players]]\nid = "<b>"',
        f'players.2.id: {ID_SHAPE}; < (U+003C) cannot stand there, found "<b>"',
    ),
    "a quote in an id": (
        '[[players]]\nid = "O\'Neil"',
        f"players.2.id: {ID_SHAPE}; ' (U+0027) cannot stand there, found \"O'Neil\"",
    ),
    "two spaces in an id": (
        '[[players]]\nid = "Ana  Maria"',
        f'players.2.id: {ID_SHAPE}; there are spaces at its ends or two together, found "Ana Maria"',
    ),
    "a space before an id": (
        '[[players]]\nid = " Ana"',
        f'players.2.id: {ID_SHAPE}; there are spaces at its ends or two together, found "Ana"',
    ),
    "an id that looks like the narrator": (
        '[[players]]\nid = "NАRRATOR"',
        'players.2.id: must not be one of NARRATOR, ENGINE, SYSTEM, EVERYONE, ALL, in any case, found "NАRRATOR"',
    ),
    "an id that looks like another": (
        '[[players]]\nid = "Paul"\n[[players]]\nid = "Раul"',
        'players.3.id: "Раul" can be taken for "Paul", the id of players.2',
    ),
    "an id that is another, composed otherwise": (
        '[[players]]\nid = "José"\n[[players]]\nid = "JOSE\\u0301"',
        'players.3.id: "JOSÉ" is the id of players.2 already; case does not count',
    ),
    "id as a number": ("[[players]]\nid = 7", f"players.2.id: {ID_SHAPE}, found 7"),
    "reserved id": (
        "[[players]]\nid = 'Narrator'",
        'players.2.id: must not be one of NARRATOR, ENGINE, SYSTEM, EVERYONE, ALL, in any case, found "Narrator"',
    ),
    "one id twice": ("[[players]]\nid = 'a'", 'players.2.id: "a" is the id of players.0 already; case does not count'),
    "number taken": (
        "[[players]]\nid = 'c2'\n[[players]]\nid = 'c'\ncount = 2",
        'players.3.id: "c2" is the id of players.2 already; case does not count',
    ),
    "number too long": (f"[[players]]\nid = '{'n' * 32}'\ncount = 2", f'players.2.id: {ID_SHAPE}, found "{"n" * 32}1"'),
    "no id": ("[[players]]\nmodel = 'human'", "players.2: id is missing"),
    "two names": ("[[players]]\nid = 'C'\nplayer_id = 'C'", "players.2: id and player_id are two names of one key"),
    "none of them": (
        "[[players]]\nid = 'c'\ncount = 0",
        "players.2.count: must be a whole number from 1 to 20000, found 0",
    ),
    "too many": ("[[players]]\nid = 'c'\ncount = 20000", "players: 20002 are too many (valid: at most 20000)"),
    "two prompts": ("prompt = 'a'\nprompt_file = 'b'", "players.1: prompt and prompt_file exclude each other"),
    "missing prompt": (
        "prompt_file = 'no.txt'",
        "players.1.prompt_file: no such file: no.txt (looked at {folder}/no.txt)",
    ),
    "prompt as a number": ("prompt = 5", "players.1.prompt: must be text, found 5"),
    "prompt without a name": ("prompt_file = ''", "players.1.prompt_file: must name a file, found ''"),
    "prompt of nul": ('prompt_file = "a\\u0000b"', "players.1.prompt_file: not a usable path: ab"),
    "placeholder": (
        "prompt = 'I am ${palyer}'",
        "players.1.prompt: has an unknown placeholder ${palyer} (did you mean ${player}?)",
    ),
    "strange placeholder": (
        "character_prompt = '${x.y}'",
        "players.1.character_prompt: has an unknown placeholder ${x.y} "
        "(known: ${player}, ${players}, ${others}, ${game})",
    ),
    "open placeholder": (
        "prompt = '${player'",
        "players.1.prompt: has a ${ that is not closed; $$ gives a dollar sign",
    ),
    "twice": (
        "max_tokens = 1\nclient_kwargs = { max_tokens = 2 }",
        "players.1: max_tokens stands both here and in client_kwargs",
    ),
    "hot kwargs": (
        "client_kwargs = { temperature = 3 }",
        'players.1.client_kwargs.temperature: must be a number from 0 to 2 or "default", found 3',
    ),
    "unknown staff": (
        "[staff.moderater]\nmodel = 'human'",
        "staff.moderater: parlour has no such staff (did you mean moderator?)",
    ),
    "word in a union": (
        "[game_config]\nrounds = 'three'",
        'game_config.rounds: must be a whole number from 1 to 100 or "auto", found "three"',
    ),
    "open range": ("[game_config]\nstake = 10", "game_config.stake: must be a number above 0 and below 10, found 10"),
    "enum": ("[game_config]\nmoods = ['sad']", 'game_config.moods.0: must be one of "calm", "wild", found "sad"'),
    "missing": ("[[game_config.guests]]", "game_config.guests.0.name: is missing (valid: text)"),
    "the game's own check": (
        "[game_config]\nquiet = true\nguests = [{ name = 'Z' }]",
        "game_config: a quiet parlour has no guests",
    ),
    "price": ("[prices.'lab/x']\ninput = 1", 'prices."lab/x".output: is missing (valid: a number of at least 0)'),
    "price of nothing": ("[prices.x]\ninput = 1\noutput = 1", f"prices: x {MODEL_SHAPE}"),
    "several at once": (
        "prompt_file = 'no.txt'\n[[players]]\nid = 'Z'\nmodel = 'bot/none'\n"
        "[[players]]\nid = 'Y'\nprompt_file = 'n.txt'",
        "players.1.prompt_file: no such file: no.txt (looked at {folder}/no.txt); "
        'players.2.model: parlour has no "bot/none" (valid: bot/bold, bot/careful, bot/random); '
        "players.3.prompt_file: no such file: n.txt (looked at {folder}/n.txt)",
    ),
    "calls below zero": (
        "[limits]\nmax_calls = -1",
        "limits.max_calls: must be a whole number of at least 0, found -1",
    ),
    "no calls at once": (
        "[limits]\nconcurrency = 0",
        "limits.concurrency: must be a whole number from 1 to 10000, found 0",
    ),
    "more than all": (
        "[limits]\nmax_fallback_rate = 2",
        "limits.max_fallback_rate: must be a number from 0 to 1, found 2",
    ),
    "no such mode": (
        "[providers.openai]\nstructured = 'xml'",
        'providers.openai.structured: must be one of "json_schema", "tool", "json_object", "prompt", "auto"',
    ),
    "bot as provider": ("[providers.bot]", "providers: no model name can begin with bot/ and mean a provider"),
    "date": ("[game_config]\nstake = 2024-01-01", "game_config.stake: must be in quotes, found the date 2024-01-01"),
    "huge": ("[game_config]\nrounds = 0xfffffffffffffffff", "game_config.rounds: must be a number of at most 64 bits"),
    "key in a provider": ("[providers.lab]\napi_key = 'x'", f"providers.lab.api_key: {ADVICE}"),
    "key in kwargs": ("client_kwargs = { OPENAI-API-KEY = 'x' }", f"players.1.client_kwargs.OPENAI-API-KEY: {ADVICE}"),
    "openai's key": ("[providers.lab]\napi_key_env = 'sk-live'", f"providers.lab.api_key_env: {ADVICE}"),
    "google's key": ("model = 'AIzaSyA-1234567'", f"players.1.model: {ADVICE}"),
    "key in a prompt": ("prompt = 'use sk-proj-0123456789abcdef'", f"players.1.prompt: {ADVICE}"),
    "key in a list": ("[game_config]\nmoods = ['sk-live']", f"game_config.moods.0: {ADVICE}"),
    "key as a key": ("[providers.sk-live-123]", f"providers: a key below it {ADVICE}"),
    "password in a URL": ("[providers.lab]\nbase_url = 'http://me:pass@host/v1'", f"providers.lab.base_url: {ADVICE}"),
    "extra that is ours": (
        "[providers.lab]\nbase_url = 'http://host/v1'\nextra_body = { stream = true }",
        "providers.lab.extra_body: `stream` cannot be set there; it is set by no option, since answers are read whole",
    ),
    "host with an empty part": (
        "[providers.lab]\nbase_url = 'http://a..b:1/v1'",
        "providers.lab.base_url: must look like http://host:port/v1",
    ),
    "key without its mark": (
        "[providers.lab]\napi_key_env = 'my private words'",
        "providers.lab.api_key_env: must be the name of an environment variable, never the key itself",
    ),
}


@pytest.mark.parametrize("case", ADDED)
def test_what_is_wrong_is_said_in_one_line(case: str, tmp_path: Path) -> None:
    added, line = ADDED[case]
    path = written(tmp_path, f"{SEATS}{added}\n")
    assert refused(path) == line.replace("{folder}", str(path.parent))


WHOLE = {
    "no game": ('[[players]]\nid = "A"', "game: is missing; give it here or as --game (valid: parlour, whist)"),
    "another game": ('game = "chess"', "game: there is no game 'chess' (valid: parlour, whist)"),
    "no players": ('game = "parlour"', "players: there are none; each needs a [[players]] table"),
    "players in one table": ("[players]\nid = 'x'", "players: must be a list, each a table, found a table"),
    "players as a number": ("players = 3", "players: must be a list, each a table, found 3"),
    "a player as a number": ("players = [3]", "players.0: must be a table, found 3"),
    "a provider as a number": ("providers = { lab = 3 }", "providers.lab: must be a table"),
    "too few": (
        'game = "parlour"\n[[players]]\nid = "A"\nmodel = "human"',
        "players: one cannot sit alone, found 1 (valid: 2 or more)",
    ),
    "no model": ('game = "parlour"\n[[players]]\nid = "A"', "players.0.model: is missing, and [defaults] has none"),
    "defaults as a number": ("defaults = 3", "defaults: must be a table, found 3"),
    "defaults": ("[defaults]\nretries = -1", "defaults.retries: must be a whole number from 0 to 100, found -1"),
    "a bot in the defaults": (
        'game = "parlour"\n[defaults]\nmodel = "bot/zzz"\n[[players]]\nid = "A"',
        'defaults.model: parlour has no "bot/zzz" (valid: bot/bold, bot/careful, bot/random)',
    ),
    "a placeholder in the defaults": (
        'game = "parlour"\n[defaults]\nmodel = "human"\nprompt = "${all}"\n[[players]]\nid = "A"',
        "defaults.prompt: has an unknown placeholder ${all} (known: ${player}, ${players}, ${others}, ${game})",
    ),
    "seed below zero": ("seed = -1", "seed: must be a whole number from 0 to 9223372036854775807, found -1"),
    "a seed too large": (f"seed = {'9' * 20}", "seed: must be a number of at most 64 bits"),
    "a seed in quotes": ("seed = '7'", 'seed: must be a whole number from 0 to 9223372036854775807, found "7"'),
    "true as a seed": ("seed = true", "seed: must be a whole number from 0 to 9223372036854775807, found true"),
    "a path as a name": (
        'name = "../x"',
        'name: must be 1 to 64 of the characters A-Z a-z 0-9 . _ -, the first a letter or a digit, found "../x"',
    ),
    "control characters in a key": ('"a\\u001b[31mb\\n" = 1', f"ab: unknown key (valid: {TOP})"),
    "long words": (
        f'seed = "{"x" * 500}"',
        f'seed: must be a whole number from 0 to 9223372036854775807, found "{"x" * 57}..."',
    ),
}


@pytest.mark.parametrize("case", WHOLE)
def test_what_is_wrong_with_a_whole_file(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentsim.games.names", lambda: ["parlour", "whist"])
    text, line = WHOLE[case]
    path = written(tmp_path, text)
    assert refused(path) == line


@pytest.mark.parametrize(
    ("name", "hint"), [("google", "needs `--provider openrouter`"), ("openruter", "mean openrouter?")]
)
def test_an_unknown_provider_is_named_with_what_might_be_meant(name: str, hint: str, tmp_path: Path) -> None:
    path = written(tmp_path, SEATS + f'model = "{name}/gemini-2.5-flash"\n')
    with pytest.raises(ScenarioError, match=hint) as raised:
        load(path)
    assert raised.value.key == "players.1.model"


def test_a_provider_of_ones_own_needs_an_address(tmp_path: Path) -> None:
    path = written(tmp_path, SEATS + 'model = "lab/x"\n[providers.lab]\n')
    with pytest.raises(ScenarioError) as raised:
        load(path)
    assert raised.value.key == "providers.lab.base_url"


@pytest.mark.parametrize("key", ["model", "messages", "stream", "n", "base_url"])
def test_client_kwargs_cannot_say_what_is_ours(key: str, tmp_path: Path) -> None:
    path = written(tmp_path, SEATS + f"client_kwargs = {{ {key} = 1 }}\n")
    with pytest.raises(ScenarioError, match="cannot be set there") as raised:
        load(path)
    assert raised.value.key == "players.1.client_kwargs"


def test_words_that_resemble_keys_are_not_refused(tmp_path: Path) -> None:
    prompt = "ask-me-anything, sk-learn-based-approach, no api_key here, $100, bearer of news, http://host:80/@x"
    path = written(tmp_path, SEATS + f'prompt = "{prompt}"\n')
    assert load(path).players[1].prompt == prompt


@pytest.mark.parametrize(("game", "key"), [("society", "base"), ("market", "system_prompt")])
def test_words_in_place_of_a_file_are_told_the_table_that_holds_words(game: str, key: str) -> None:
    document = {"game": game, "players": [{"id": "A", "count": 4, "model": "bot/random"}]}
    with pytest.raises(ScenarioError) as caught:
        load({**document, "game_config": {key: "You live here."}})
    said = "must be a .txt file or { text = \"...\" }, found 'You live here.'"
    assert str(caught.value) == f"the scenario: game_config.{key}: {said}"
    load({**document, "game_config": {key: {"text": "You live here."}}})


def test_all_mistakes_of_a_file_are_named_at_once(tmp_path: Path) -> None:
    """Of every table, the game's own among them; a mistake of several players once, an unknown key before the rest."""
    text = (
        'game = "parlour"\nsed = 1\n[game_config]\nrounds = "x"\nfromat = 1\nzzz = 2\n[limits]\nmax_cals = 3\n'
        + "[[players]]\nmodle = 'bot/bold'\ntemperature = 9\n" * 3
    )
    assert refused(written(tmp_path, text)) == (
        "limits.max_cals: unknown key (did you mean max_calls?); "
        "players.0.modle and 2 more: unknown key (did you mean model?); "
        "sed: unknown key (did you mean seed?); "
        'players.0.temperature and 2 more: must be a number from 0 to 2 or "default", found 9; '
        "game_config.fromat: unknown key (valid: guests, moods, quiet, rounds, stake); "
        "game_config.zzz: unknown key; "
        'game_config.rounds: must be a whole number from 1 to 100 or "auto", found "x"'
    )


def test_of_very_many_mistakes_the_first_are_named_and_the_others_counted(tmp_path: Path) -> None:
    line = refused(written(tmp_path, SEATS + "[game_config]\n" + "".join(f"zzz{n} = 1\n" for n in range(40))))
    assert line.count("unknown key") == 13
    assert line.endswith("; and 27 more")


KINDS = '"tax" or "dividend" or "allocation" or "work_minimum" or "repeal" or "voting_rule" or "build"'


@pytest.mark.parametrize(
    ("term", "line"),
    [
        ({"kind": "fine", "amount": 1}, f'laws.0.terms.0.kind: must be {KINDS}, found "fine"'),
        ({"kind": 3}, f"laws.0.terms.0.kind: must be {KINDS}, found 3"),
        ({"amount": 1}, f"laws.0.terms.0.kind: is missing (valid: {KINDS})"),
        (3, "laws.0.terms.0: must be a table, found 3"),
    ],
    ids=["another", "a number", "none", "no table"],
)
def test_a_table_of_no_kind_that_there_is_is_told_the_kinds(term: Any, line: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        validated(SocietyConfig, {"laws": [{"title": "T", "terms": [term]}]})
    assert str(caught.value) == line
