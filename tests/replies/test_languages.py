"""Sentences: a vote, consent and refusal are read in twelve languages, a bid in ten; before other words too."""

from __future__ import annotations

from typing import Any

import pytest

from tests.replies.asked import asked, read

VOTES = """
    I vote for C. | Ich stimme für C. | Je vote pour C. | Voto por C. | Voto em C. | Voto per C. | Ik stem op C.
    | Głosuję na C. | Я голосую за C. | 我投票给 C。 | Cに投票します。 | C에게 투표합니다。
"""
YES = """
    I accept. | Ich nehme an. | J'accepte. | Acepto. | Aceito. | Accetto. | Ik accepteer. | Akceptuję. | Принимаю.
    | 我接受。 | 承諾します。 | 수락합니다.
"""
NO = """
    I refuse. | Ich lehne ab. | Je refuse. | Rechazo. | Recuso. | Rifiuto. | Ik weiger. | Odrzucam. | Отклоняю.
    | 我拒绝。 | 拒否します。 | 거절합니다.
"""
BIDS = """
    I bid 150. | Ich biete 150. | J'offre 150. | Ofrezco 150. | Ofereço 150. | Offro 150. | Ik bied 150.
    | Licytuję 150. | Я ставлю 150. | 我出价150。
"""


@pytest.mark.parametrize(
    ("name", "field", "value", "sentences", "languages"),
    [
        ("agent_island/vote", "vote", "C", VOTES, 12),
        ("agent_island/answer_approach", "accept", True, YES, 12),
        ("agent_island/answer_approach", "accept", False, NO, 12),
        ("auction/bid", "bid", 150, BIDS, 10),
    ],
    ids=["vote", "yes", "no", "bid"],
)
@pytest.mark.parametrize("before", ["", "Well then. "], ids=["alone", "behind words"])
def test_a_sentence_decides_in_every_language_that_is_promised(  # noqa: PLR0917 - a table of sentences
    name: str, field: str, value: Any, sentences: str, languages: int, before: str
) -> None:
    said = [" ".join(each.split()) for each in sentences.split("|")]
    found = {each: getattr(read(asked(name).request, before + each), field) for each in said}
    assert found == dict.fromkeys(said, value)
    assert len(said) == languages
