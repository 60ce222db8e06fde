"""Templates are compiled once for all processes, and again as soon as what was kept may not be what they say."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from agentsim.report import markup
from agentsim.report.bytecode import KeptBytecode


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Path]]:
    """The files that are kept, in a place of their own."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "kept"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return lambda: sorted((tmp_path / "kept").rglob("*.template*"))


class Counting(Environment):
    """Counts what it has to compile."""

    compiled = 0

    def _generate(self, *args: object, **kwargs: object) -> str:
        self.compiled += 1
        return super()._generate(*args, **kwargs)  # type: ignore[arg-type] # it is passed on as it comes


def made(template: str, maker: Path) -> tuple[str, int]:
    """What a process of its own would show, and how many templates it would compile for that."""
    maker.touch()
    environment = Counting(loader=DictLoader({"a": template}), bytecode_cache=KeptBytecode([str(maker)]))
    return environment.get_template("a").render(x=2), environment.compiled


def test_what_one_process_compiled_another_takes(tmp_path: Path, kept: Callable[[], list[Path]]) -> None:
    assert made("{{ x }} and {{ 1 + 1 }}", tmp_path / "maker") == ("2 and 2", 1)
    assert made("{{ x }} and {{ 1 + 1 }}", tmp_path / "maker") == ("2 and 2", 0)
    assert len(kept()) == 1, "nothing is left beside it"


def test_another_template_or_another_filter_is_compiled_anew(tmp_path: Path) -> None:
    maker = tmp_path / "maker"
    assert made("{{ x }}", maker) == ("2", 1)
    assert made("{{ x }}!", maker) == ("2!", 1)
    maker.write_text("def filter(): ...", encoding="utf-8")
    assert made("{{ x }}!", maker) == ("2!", 1)
    assert made("{{ x }}!", maker) == ("2!", 0)


def test_a_damaged_file_is_made_anew(tmp_path: Path, kept: Callable[[], list[Path]]) -> None:
    made("{{ x }}", tmp_path / "maker")
    (path,) = kept()
    whole = path.read_bytes()
    for damaged in (b"", whole[:20], whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1]), whole + b"x", b"x" + whole):
        path.write_bytes(damaged)
        assert made("{{ x }}", tmp_path / "maker") == ("2", 1)
        assert path.read_bytes() == whole


def test_where_nothing_can_be_kept_or_shall_be_templates_are_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: Callable[[], list[Path]]
) -> None:
    (tmp_path / "kept").touch()  # so that no directory of that name can be made
    assert made("{{ x }}", tmp_path / "maker") == made("{{ x }}", tmp_path / "maker") == ("2", 1)
    (tmp_path / "kept").unlink()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert made("{{ x }}", tmp_path / "maker") == made("{{ x }}", tmp_path / "maker") == ("2", 1)
    assert kept() == []


def test_the_pages_own_templates_are_kept(kept: Callable[[], list[Path]]) -> None:
    environment = markup.environment.__wrapped__()
    environment.get_template("page.html.j2")
    assert len(kept()) == 1
