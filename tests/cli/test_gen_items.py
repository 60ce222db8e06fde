"""`agentsim gen-items`: the shipped files are its output, no file is overwritten, and its scenarios can be found."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from agentsim.cli.scaffold import ItemListKind, ThemeName
from agentsim.games.auction.items import KINDS, THEMES, draw, presentable, read_items
from agentsim.scenario.source_files import located, roots
from tests.cli.command_line import ROOT, agentsim, real, snapshot

FIXED = ("standard", "scarcity", "abundance", "high_quality", "trap")
FILES = [f"items/{kind}.json" for kind in FIXED]


def test_the_command_offers_the_games_kinds_and_all() -> None:
    assert set(get_args(ItemListKind)) == {*KINDS, "all"}


def test_the_shipped_files_are_what_the_command_writes(tmp_path: Path) -> None:
    said = agentsim("gen-items", cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [f"wrote {name}" for name in FILES]
    assert snapshot(tmp_path).keys() == {"items", *FILES}
    for name in FILES:
        assert (ROOT / name).read_bytes() == (tmp_path / name).read_bytes(), f"{name}: agentsim gen-items --overwrite"


def test_in_the_checkout_it_has_nothing_to_do() -> None:
    said = agentsim("gen-items", "--kind", "all", "--seed", "1", "--out", "items/", cwd=ROOT)
    assert (said.code, said.out.splitlines()) == (0, [f"unchanged {name}" for name in FILES])


def test_same_seed_same_bytes_in_any_process(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        assert real("gen-items", "--seed", "7", "--out", folder, "--configs", folder, cwd=tmp_path).code == 0
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")
    assert len(snapshot(tmp_path / "a")) == 10


def test_a_random_list_is_named_by_its_seed_and_is_what_a_game_of_that_seed_draws(tmp_path: Path) -> None:
    assert agentsim("gen-items", "--kind", "random", "--seed", "42", cwd=tmp_path).out == "wrote items/random-42.json\n"
    text = (tmp_path / "items/random-42.json").read_text(encoding="utf-8")
    assert read_items(text) == draw("random", 42)
    agentsim("gen-items", "--kind", "random", "--seed", "42", "--extra", "0", "--out", "few", cwd=tmp_path)
    assert len(json.loads((tmp_path / "few/random-42.json").read_text(encoding="utf-8"))) == 10


@pytest.mark.parametrize("theme", [name for name in THEMES if name != "blaster"])
@pytest.mark.parametrize("kind", ["trap", "abundance", "random"])
def test_a_theme_is_the_same_market_under_other_names(theme: str, kind: str, tmp_path: Path) -> None:
    agentsim("gen-items", "--kind", kind, "--seed", "7", "--theme", theme, cwd=tmp_path)
    stem = "random-7" if kind == "random" else kind
    found = read_items((tmp_path / f"items/{stem}-{theme}.json").read_text(encoding="utf-8"))
    plain = draw(kind, 7)
    assert [(item.quality, item.required) for item in found] == [(item.quality, item.required) for item in plain]
    assert not {item.name for item in found} & {item.name for item in plain}
    assert len({item.name for item in found}) == len({item.name for item in plain})


def test_the_themes_of_the_command_are_the_games_and_of_one_size() -> None:
    assert set(get_args(ThemeName)) == {*THEMES}
    assert {(len(set(theme.required)), len(set(theme.others))) for theme in THEMES.values()} == {(10, 48)}
    assert all(presentable(name) for theme in THEMES.values() for name in (*theme.required, *theme.others))


@pytest.mark.parametrize("configs", [(), ("--configs", "configs")], ids=["items", "items and scenarios"])
def test_nothing_is_overwritten_or_written_beside_what_differs(configs: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "items").mkdir()
    (tmp_path / "items/trap.json").write_text("my own", encoding="utf-8")
    before = snapshot(tmp_path)
    said = agentsim("gen-items", *configs, cwd=tmp_path)
    assert (said.code, said.out) == (2, "")
    assert said.line == "items/trap.json: exists and differs; nothing was written (--overwrite replaces)"
    assert snapshot(tmp_path) == before


def test_a_scenario_that_differs_stops_the_items_too(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/auction_trap.toml").write_text("# mine", encoding="utf-8")
    said = agentsim("gen-items", "--configs", "configs", cwd=tmp_path)
    assert (said.code, said.line.partition(":")[0]) == (2, "configs/auction_trap.toml")
    assert not (tmp_path / "items").exists()


def test_overwrite_replaces_what_differs_and_leaves_what_does_not(tmp_path: Path) -> None:
    agentsim("gen-items", cwd=tmp_path)
    (tmp_path / "items/trap.json").write_text("my own", encoding="utf-8")
    (tmp_path / "items/other.json").write_text("not ours", encoding="utf-8")
    times = {name: (tmp_path / name).stat().st_mtime_ns for name in FILES}
    said = agentsim("gen-items", "--overwrite", cwd=tmp_path)
    words = ["wrote" if "trap" in name else "unchanged" for name in FILES]
    assert (said.code, said.out.splitlines()) == (
        0,
        [f"{word} {name}" for word, name in zip(words, FILES, strict=True)],
    )
    assert (tmp_path / "items/trap.json").read_bytes() == (ROOT / "items/trap.json").read_bytes()
    assert (tmp_path / "items/other.json").read_text(encoding="utf-8") == "not ours"
    assert [name for name in FILES if (tmp_path / name).stat().st_mtime_ns != times[name]] == ["items/trap.json"]


def test_a_scenario_for_each_list_seats_four_bots_and_finds_its_items(tmp_path: Path) -> None:
    said = agentsim("gen-items", "--configs", "studies/configs/deep", "--out", "studies/items/drawn", cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    for kind in FIXED:
        path = tmp_path / f"studies/configs/deep/auction_{kind}.toml"
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        assert document["game"] == "auction"
        assert [player["model"] for player in document["players"]] == [
            "bot/truthful", "bot/sniper", "bot/hoarder", "bot/random",
        ]  # fmt: skip
        name = document["game_config"]["items"]
        assert name == f"../../items/drawn/{kind}.json"
        assert located(name, path, roots(path)).read_bytes() == (ROOT / f"items/{kind}.json").read_bytes()
        assert f"wrote studies/configs/deep/{path.name}\n" in said.out
    assert path.read_text(encoding="utf-8").count("[[players]]\n") == 4


def test_every_scenario_can_be_played(tmp_path: Path) -> None:
    agentsim("gen-items", "--configs", "configs", cwd=tmp_path)
    agentsim("gen-items", "--kind", "random", "--extra", "490", "--configs", "configs", cwd=tmp_path)
    scenarios = sorted(path.name for path in (tmp_path / "configs").iterdir())
    assert len(scenarios) == 6
    for name in scenarios:
        said = agentsim("validate", "--config", f"configs/{name}", cwd=tmp_path)
        assert (said.code, said.err) == (0, "")
    said = agentsim("run", "--config", "configs/auction_trap.toml", "--display", "none", "--json", cwd=tmp_path)
    assert (said.code, json.loads(said.out)["status"]) == (0, "completed")


def test_a_scenario_points_at_a_schema_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    words = ("gen-items", "--kind", "trap", "--configs", "configs")
    agentsim(*words, cwd=tmp_path)
    path = tmp_path / "configs/auction_trap.toml"
    assert path.read_text(encoding="utf-8").startswith('game = "auction"\n')
    (tmp_path / "configs/agentsim.schema.json").write_text("{}", encoding="utf-8")
    agentsim(*words, "--overwrite", cwd=tmp_path)
    assert path.read_text(encoding="utf-8").startswith('#:schema ./agentsim.schema.json\ngame = "auction"\n')


def test_scenarios_that_cannot_reach_their_items_are_written_with_a_word_on_how_to_run_them(tmp_path: Path) -> None:
    said = agentsim("gen-items", "--configs", "scenarios", cwd=tmp_path)
    assert said.code == 0
    assert said.line == f"the items are outside {tmp_path}/scenarios: run these scenarios with --allow-dir items"
    path = tmp_path / "scenarios/auction_trap.toml"
    name = tomllib.loads(path.read_text(encoding="utf-8"))["game_config"]["items"]
    assert located(name, path, roots(path, [tmp_path / "items"])) == tmp_path / "items/trap.json"


def test_links_to_directories_are_followed_before_the_way_between_them_is_told(tmp_path: Path) -> None:
    (tmp_path / "far/away/configs").mkdir(parents=True)
    (tmp_path / "configs").symlink_to("far/away/configs")
    agentsim("gen-items", "--kind", "trap", "--configs", "configs", "--out", "far/items", cwd=tmp_path)
    path = tmp_path / "configs/auction_trap.toml"
    name = tomllib.loads(path.read_text(encoding="utf-8"))["game_config"]["items"]
    assert (path.parent.resolve() / name).resolve() == tmp_path / "far/items/trap.json"


BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "unknown kind": (("--kind", "luxury"), "'luxury' is not one of"),
    "kind in capitals": (("--kind", "Trap"), "'Trap' is not one of"),
    "unknown theme": (("--theme", "garden"), "'garden' is not one of 'blaster', 'expedition', 'plain'"),
    "negative seed": (("--seed", "-1"), "'--seed': must be greater than or equal to 0"),
    "seed beyond a scenario's": (("--seed", str(2**63)), "'--seed': must be less than or equal to 9223372036854775807"),
    "a word for a seed": (("--seed", "x"), "'--seed': must be a valid integer"),
    "extra for all": (("--extra", "5"), "--extra 5 is for --kind random; the other lists have a size of their own"),
    "extra for a fixed kind": (("--extra", "0", "--kind", "trap"), "--extra 0 is for --kind random"),
    "too many": (("--extra", "491", "--kind", "random"), "'--extra': must be less than or equal to 490"),
    "negative extra": (("--extra", "-1", "--kind", "random"), "'--extra': must be greater than or equal to 0"),
    "out is a file": (("--out", "file"), "file: exists and is not a directory; nothing was written"),
    "out is under a file": (("--out", "file/deep"), "file: exists and is not a directory; nothing was written"),
    "a directory where a file would be": (
        ("--out", "odd", "--overwrite"),
        "odd/trap.json: exists and is not a regular file",
    ),
    "a link where a file would be": (
        ("--out", "linked", "--overwrite"),
        "linked/trap.json: exists and is not a regular file",
    ),
}


@pytest.mark.parametrize(("words", "problem"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_one_line_and_nothing_is_written(
    words: tuple[str, ...], problem: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("here", encoding="utf-8")
    (tmp_path / "odd/trap.json").mkdir(parents=True)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/trap.json").symlink_to("../file")
    before = snapshot(tmp_path)
    said = agentsim("gen-items", *words, cwd=tmp_path)
    assert (said.code, said.out) == (2, "")
    assert problem in said.line
    assert snapshot(tmp_path) == before


def test_a_directory_that_cannot_be_written_in_is_an_error_of_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "configs").mkdir()
    access = os.access  # tests may run as root, who may write anywhere
    monkeypatch.setattr(
        os, "access", lambda path, mode: not (mode & os.W_OK and Path(path).name == "configs") and access(path, mode)
    )
    said = agentsim("gen-items", "--configs", "configs", cwd=tmp_path)
    assert (said.code, said.out, said.line) == (2, "", "configs: cannot be written in; nothing was written")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
