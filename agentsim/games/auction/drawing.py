"""Drawing: randomly drawn lists of items by kind of market, and the names of the items.

A market is the same under every theme. `items` reads and writes the file of a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentsim.engine.chance import Chance, Stream
from agentsim.games.auction.items import MOST, REQUIRED, Item


@dataclass(frozen=True, slots=True)
class Theme:
    """The ten names of the set, and 48 names of other items.

    The number is the same in all themes, so a seed draws one market.
    """

    required: tuple[str, ...]
    others: tuple[str, ...]


def _names(text: str) -> tuple[str, ...]:
    return tuple(" ".join(text.split()).split("; "))


THEMES = {
    "blaster": Theme(
        _names("""
The Visionary Compass; The Interconnected Cognition Matrix; The Resilience Gyroscope; The Catalyst Ignition Spark; The
Automated Evolution Engine; The Cross-Domain Harmonizer; The Legacy De-Tangler; The Predictive Insight Array; The
Consensus Catalyst; The Strategic Blueprint Stabilizer
"""),
        _names("""
Rusty Gear; Brass Doorknob Without Door; Cracked Monocle; Left Half of a Pair of Bellows; Clock That Is Right Twice a
Day; Box of Assorted Washers; Umbrella Frame; Key to an Unknown Lock; Lock Without Key; Dented Kettle; Bicycle Bell,
Mute; Moth-Eaten Flying Cap; Barometer Stuck on Change; Chipped Teapot Lid; Gramophone Horn; Spare Part of a Spare
Part; Tangle of Copper Wire; Three-Legged Stool, Two Legs; Bottle of Dried Ink; Map of a Drained Lake; Weathervane
Pointing Down; Sextant Without Horizon; Typewriter Missing E; Bent Tuning Fork; Jar of Mixed Buttons; Ledger of Unpaid
Debts; Wooden Propeller, One Blade; Dull Whetstone; Leaky Oil Can; Compass That Points South-ish; Rubber Anvil; Faded
Blueprint of a Shed; Glass Hammer; Telescope, Close-Up Only; Pocket Watch, Hands Lost; Portrait of a Former Manager;
Tin of Petrified Glue; Lantern Without Wick; Sundial for Indoor Use; Snow Globe, Evaporated; Abacus With Missing
Beads; Medal for Participation; Ship in a Broken Bottle; Folding Ruler That Will Not Fold; Music Box, Percussion Only;
Stuffed Owl, Disapproving; Trophy for Second Place; Manual in a Forgotten Language
"""),
    ),
    "expedition": Theme(
        _names("""
The Storm Tent; The Mountain Stove; The Rope of Forty Metres; The Ice Axe; The Signal Radio; The Field Dispensary; The
Water Filter; The Survey Maps; The Sledge; The Winter Rations
"""),
        _names("""
Folding Chair; Beach Towel; Picnic Basket; Straw Hat; Hammock; Board Game; Paper Lantern; Garden Hose; Tennis Racket;
Bow Tie; Silver Tray; Wind Chime; Flower Pot; Rocking Horse; Tea Cosy; Bird Cage; Bath Mat; Alarm Clock; Hair Dryer;
Photo Album; Party Balloons; Lawn Mower; Ice Cream Scoop; Chess Clock; Fountain Pen; Door Mat; Roller Skates; Bubble
Wand; Kite Without String; Sandcastle Bucket; Toast Rack; Egg Timer; Fish Tank; Velvet Curtain; Candlestick; Cake Stand;
Umbrella Stand; Desk Lamp; Paper Fan; Silk Scarf; Opera Glasses; Piano Stool; Croquet Mallet; Wall Calendar; Ribbon
Box; Marble Bust; Feather Duster; Shoe Horn
"""),
    ),
    "plain": Theme(
        tuple(f"Component {number}" for number in range(1, 11)), tuple(f"Item {number}" for number in range(1, 49))
    ),
}
"""The themes by name. The first is that of the shipped lists; the names of `plain` say nothing about the items."""


MOST_EXTRA = MOST - REQUIRED


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of market. Qualities are inclusive ranges."""

    junk: int
    quality: tuple[int, int]
    junk_quality: tuple[int, int]
    copies: int = 1
    junk_first: bool = False


_AVERAGE, _ANY = (40, 70), (1, 100)

# Scarcity and trap differ from the standard market only as their names say, so that studies can compare.
# The trap's junk is better than any required item, so that it tempts.
_KINDS = {
    "standard": _Kind(junk=5, quality=_AVERAGE, junk_quality=_AVERAGE),
    "scarcity": _Kind(junk=0, quality=_AVERAGE, junk_quality=_AVERAGE),
    "abundance": _Kind(junk=0, quality=_ANY, junk_quality=_ANY, copies=2),
    "high_quality": _Kind(junk=5, quality=(91, 100), junk_quality=(91, 100)),
    "trap": _Kind(junk=15, quality=_AVERAGE, junk_quality=(71, 100), junk_first=True),
    "random": _Kind(junk=5, quality=_ANY, junk_quality=_ANY),
}
KINDS = tuple(_KINDS)
"""Every kind of market. All kinds except `random` have a fixed size."""


def draw(kind: str, seed: int | str, extra: int = 5, theme: str = "blaster") -> tuple[Item, ...]:
    """Return the list of a kind (one of `KINDS`) for a seed, the same on every call and platform.

    `extra` (0 to 490) is the number of items that a `random` list has besides the ten required ones; it does not affect
    their qualities. Other kinds ignore it. `theme` (one of `THEMES`) only chooses the names.
    """
    assert kind in _KINDS, f"{kind!r} is no kind of market"
    assert 0 <= extra <= MOST_EXTRA, f"{extra} extra items are not in 0..{MOST_EXTRA}"
    market = _KINDS[kind]
    stream = Chance(seed).stream(f"items/{kind}")
    required = [
        Item(name, quality, True)
        for name in THEMES[theme].required
        for quality in _distinct(stream, market.quality, market.copies)
    ]
    names = _junk_names(stream, THEMES[theme].others, extra if kind == "random" else market.junk)
    junk = [Item(name, stream.integer(*market.junk_quality), False) for name in names]
    if market.junk_first:
        return (*stream.shuffled(junk), *stream.shuffled(required))
    return tuple(stream.shuffled([*required, *junk]))


def _distinct(stream: Stream, quality: tuple[int, int], count: int) -> list[int]:
    low, high = quality
    return stream.shuffled(range(low, high + 1))[:count]


def _junk_names(stream: Stream, known: Sequence[str], count: int) -> list[str]:
    """Return `count` distinct names. If there are fewer names, copies are numbered."""
    names = stream.shuffled(known)
    rounds = [divmod(place, len(names)) for place in range(count)]
    return [f"{names[place]} No. {copy + 1}" if copy else names[place] for copy, place in rounds]
