"""The style sheet: whose it is, and that it stays inside its element."""

from __future__ import annotations

import math
import os
import re
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import pytest

from agentsim.errors import UsageError
from agentsim.report.markup import find_css, inlined
from agentsim.report.page import PageOptions, render
from tests.report.dom import parse
from tests.report.sample import sample

PACKAGED = files("agentsim.report").joinpath("logs.css").read_bytes()


def test_the_tracked_copy_is_the_packaged_one() -> None:
    assert (Path(__file__).parents[2] / "logs" / "logs.css").read_bytes() == PACKAGED


def test_without_an_own_style_sheet_the_packaged_one_serves(tmp_path: Path) -> None:
    assert find_css(tmp_path).encode() == PACKAGED
    assert find_css(tmp_path / "nowhere").encode() == PACKAGED


def test_an_own_style_sheet_wins(tmp_path: Path) -> None:
    (tmp_path / "logs.css").write_bytes(b"\xef\xbb\xbfp { color: teal }")
    assert find_css(tmp_path) == "p { color: teal }"


@pytest.mark.parametrize("kind", ["directory", "link", "pipe"])
def test_what_is_not_a_regular_file_is_not_read(tmp_path: Path, kind: str) -> None:
    own, secret = tmp_path / "logs.css", tmp_path / "secret"
    secret.write_text("secret")
    if kind == "directory":
        own.mkdir()
    elif kind == "link":
        own.symlink_to(secret)
    else:
        os.mkfifo(own)
    assert find_css(tmp_path).encode() == PACKAGED


def test_a_style_sheet_that_is_too_large_or_not_text_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "logs.css"
    own.write_bytes(b" " * 256 * 1024)
    assert len(find_css(tmp_path)) == 256 * 1024
    own.write_bytes(b" " * (256 * 1024 + 1))
    with pytest.raises(UsageError, match="256 KiB"):
        find_css(tmp_path)
    own.write_bytes(b"p { content: '\xff' }")
    with pytest.raises(UsageError, match="not UTF-8"):
        find_css(tmp_path)


@pytest.mark.parametrize(
    "css",
    [
        "</style><script>PWN</script>",
        "a{}</STYLE >",
        "</sTyLe\n>",
        "<!--</style>-->",
        "x\r\ny\rz\0",
        "</</style>style>",
    ],
)
def test_no_style_sheet_can_end_its_element(css: str) -> None:
    root = parse(render(sample(), [], PageOptions(), name="n", css=css))
    assert root.one("style").text == inlined(css)
    assert len(root.all("script")) == 1
    assert "</style" not in inlined(css).lower()
    assert not re.search("[\r\0]", inlined(css))


def test_the_packaged_style_sheet_is_sound_and_loads_nothing() -> None:
    css = PACKAGED.decode()
    assert inlined(css) == css
    assert css.count("{") == css.count("}")
    assert "url(" not in css
    assert "@import" not in css


def _linear(colour: str) -> tuple[float, ...]:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)


def _luminance(colour: str) -> float:
    red, green, blue = _linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _oklab(colour: str) -> tuple[float, float, float]:
    """Lightness and two axes of colour, in which distance is how different two look (Ottosson 2020)."""
    red, green, blue = _linear(colour)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_legible_and_colours_are_discernible(scheme: str) -> None:
    """WCAG 2.2: 4.5 for text (1.4.3), 3 for graphics (1.4.11)."""
    blocks = re.findall(r":root \{(.*?)\}", PACKAGED.decode(), re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[0 if scheme == "light" else 1]))
    for ink, papers in {
        "ink": ("paper", "shade", "private", "found"),
        "quiet": ("paper", "shade", "private"),
        "accent": ("paper", "shade", "private"),
        "private-ink": ("private",),
        "bad": ("paper", "bad-shade"),
    }.items():
        for paper in papers:
            assert _contrast(colours[ink], colours[paper]) >= 4.5, (ink, paper)
    tones = [colours[f"t{index}"] for index in range(8)]
    assert all(_contrast(tone, colours["paper"]) >= 3 for tone in tones)
    assert all(math.dist(_oklab(one), _oklab(other)) > 0.1 for one, other in combinations(tones, 2)), "told apart"
