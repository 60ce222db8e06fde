"""Themes: what the items of drawn lists are called. The market beneath is the same under every theme."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """The ten names of the set, and 48 of other items: as many in every theme, so that a seed draws the same market."""

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
"""By name. The first is that of the shipped lists; the names of `plain` say nothing of what the items are."""
