"""Items: the items for sale, the text of an items file, read and written, and lists that are drawn by kind of market.

A drawn market is the same under every theme. Games do not open files.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from agentsim.engine import wording
from agentsim.engine.chance import Chance, Stream
from agentsim.engine.letters import without_joiners
from agentsim.engine.options import closed_object
from agentsim.engine.wording import Quoted, cleaned, quoted
from agentsim.lazy import dataclass

REQUIRED = 10
"""The number of different names in the whole set."""

MOST = 500
"""The most items in one list."""

_LONGEST_NAME = 80


def presentable(name: str) -> bool:
    """Return whether prompts, tables and screens can show the name unchanged."""
    whole = without_joiners(cleaned(name)) == unicodedata.normalize("NFC", name) and not set(name) & set("\n\t")
    return whole and name == name.strip() and 1 <= len(name) <= _LONGEST_NAME


_VALUES: Mapping[str, tuple[Mapping[str, Any], Callable[[Any], bool], str]] = {
    "Name": (
        {"type": "string"},
        lambda name: isinstance(name, str) and presentable(name),
        f"1 to {_LONGEST_NAME} visible characters on one line, without space at its ends",
    ),
    "Quality": (
        {"type": "integer", "minimum": 1, "maximum": 100},
        lambda quality: type(quality) is int and 1 <= quality <= 100,  # isinstance would accept true as an int
        "a whole number from 1 to 100",
    ),
    "IsRequired": ({"type": "boolean"}, lambda required: isinstance(required, bool), "true or false"),
}
SCHEMA = {
    "type": "array",
    "items": closed_object({key: schema for key, (schema, *_) in _VALUES.items()}),
    "minItems": 1,
}
"""The schema of a list of items that a scenario holds in place of a file."""
_KEYS = tuple(_VALUES)


@dataclass(frozen=True, slots=True)
class Item:
    """One item for sale. `quality` is 1 to 100; a `required` item belongs to the set."""

    name: str
    quality: int
    required: bool

    def to_json(self) -> dict[str, Any]:
        """Return the item with the keys of items files and prompts."""
        return {"Name": self.name, "Quality": self.quality, "IsRequired": self.required}


def listed(items: Iterable[Item]) -> Quoted:
    """Return the items as a JSON list with one item per line, quoted for a prompt."""
    return Quoted("[\n" + ",\n".join(quoted(**item.to_json()) for item in items) + "\n]")


def written(items: Iterable[Item]) -> str:
    """Return the text of an items file. `read_items` reads the same items from it."""
    return json.dumps([item.to_json() for item in items], indent=2, ensure_ascii=False) + "\n"


def read_items(text: str) -> tuple[Item, ...]:
    """Parse the text of an items file, a JSON list of 1 to 500 items, in its order.

    At most ten names are required ones, and no name is both required and not. Raises `ValueError` with one line that
    says where (items count from 1) and what would be valid, without the file's name.
    """
    found = _parsed(text)
    if not isinstance(found, list) or not 1 <= len(found) <= MOST:
        raise ValueError(f"must be a list of 1 to {MOST} items, found {_shown(found)}")
    items = tuple(_item(value, f"item {index}") for index, value in enumerate(found, start=1))
    _check_names(items)
    return items


class _Object(tuple[tuple[str, Any], ...]):
    """A JSON object as its pairs, to detect duplicate keys."""

    __slots__ = ()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_Object, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise ValueError("nested too deep; must be a list of items") from None


def _integer(digits: str) -> int | Decimal:
    """Parse an integer.

    Long ones become `Decimal`, since `int` raises an error without a place for thousands of digits.
    """
    return int(digits) if len(digits) < 20 else Decimal(digits)


def _item(value: Any, where: str) -> Item:
    if not isinstance(value, _Object):
        raise ValueError(f"{where}: must be an object with {wording.listed(_KEYS)}, found {_shown(value)}")
    names = [name for name, _ in value]
    for name in names:
        if name not in _KEYS:
            raise ValueError(f"{where}: unknown key {_shown(name)}{_hint(name)}")
        if names.count(name) > 1:
            raise ValueError(f"{where}: {name} is there {names.count(name)} times; once would be valid")
    if missing := [name for name in _KEYS if name not in names]:
        raise ValueError(f"{where}: {wording.listed(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    fields = dict(value)
    for key, (_, good, valid) in _VALUES.items():
        if not good(fields[key]):
            raise ValueError(f"{where}: {key} must be {valid}, found {_shown(fields[key])}")
    return Item(*(fields[key] for key in _KEYS))


def _check_names(items: Iterable[Item]) -> None:
    """Raise `ValueError` unless items of one name agree on `required`, and required names are few enough."""
    first: dict[str, tuple[int, bool]] = {}
    for index, item in enumerate(items, start=1):
        other, required = first.setdefault(item.name, (index, item.required))
        if required != item.required:
            raise ValueError(
                f"item {index}: IsRequired is {_shown(item.required)}, but item {other} of the same name "
                f"{_shown(item.name)} says {_shown(required)}; all of one name must say the same"
            )
        if other == index and sum(required for _, required in first.values()) > REQUIRED:
            raise ValueError(
                f"item {index}: {_shown(item.name)} is a required name too many; "
                f"at most {REQUIRED} different ones would be valid"
            )


def _hint(name: str) -> str:
    spelled = {key.casefold(): key for key in _KEYS}
    near = get_close_matches(name[:40].casefold(), spelled, n=1)
    return f" (did you mean {spelled[near[0]]}?)" if near else f" (valid: {wording.listed(_KEYS)})"


def _shown(value: Any) -> str:
    """Return a short description of a found value, with invisible characters escaped."""
    match value:
        case str():
            return repr(value) if len(value) <= 60 else f"{value[:57] + '...'!r}"
        case _Object():
            return "an object"
        case list():
            return f"a list of {len(value)}" if value else "an empty list"
        case None | True | False:
            return json.dumps(value)
    text = str(value)
    return text if len(text) <= 30 else f"{text[:27]}..."


# -- lists that are drawn


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
    rounds = [divmod(index, len(names)) for index in range(count)]
    return [f"{names[place]} No. {copy + 1}" if copy else names[place] for copy, place in rounds]
