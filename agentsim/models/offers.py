"""Offers: the models that an endpoint lists, with their context, longest reply and prices.

Sources: https://platform.openai.com/docs/api-reference/models/list, https://docs.anthropic.com/en/api/models-list, and
the references of the hosts in `profiles`, which add their own fields to OpenAI's format.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import quote

from agentsim.errors import ModelError, ProviderRejected
from agentsim.lazy import dataclass
from agentsim.models.faults import AnswerNotRead, ErrorFactory, NoAnswer
from agentsim.models.pacing import Deadline
from agentsim.models.prices import context_window, listed_price
from agentsim.models.profiles import Profile, most_output
from agentsim.models.remote import Endpoint, decoded
from agentsim.models.wire.common import at, count, raise_stated_error, word

_PATIENCE_S = 30.0
_MOST_PAGES = 100
_NO_LIST: Final = {
    "azure": "azure lists the models of a region and not your deployments, whose names are used here; the portal does",
    "bedrock": "bedrock has no list of models at this address; `aws bedrock list-foundation-models` prints one",
    "vertex": "vertex has no list of models at this address; its Model Garden shows them",
}
# The fields of one number at several hosts; the first that is present counts.
_CONTEXT = (
    *("context_length", "max_model_len", "context_window", "max_context_length", "max_input_tokens"),
    *("loaded_context_length", "inputTokenLimit"),
)
_NAMES = ("id", "name", "model", "model_name", "modelId", "key")
_REPLY = ("max_completion_tokens", "max_output_tokens", "max_tokens", "outputTokenLimit")
_NESTED = (("top_provider",), ("meta",), ("limits",))
_TRAINED = ("n_ctx", "n_ctx_train")  # llama-server


@dataclass(frozen=True, slots=True)
class Offer:
    """A model that an endpoint lists. `input` and `output` are US dollars per million tokens, None if unknown."""

    id: str
    context: int | None = None
    max_output: int | None = None
    input: float | None = None
    output: float | None = None

    def record(self) -> dict[str, Any]:
        """Return the offer as JSON values."""
        return asdict(self)


async def offers(profile: Profile, key: str | None) -> list[Offer]:
    """List the models of an endpoint, by id. Raises `ModelError` if it does not answer with a list.

    At a provider's own address, the bundled catalog fills in what the answer leaves out.
    """
    if (why := _NO_LIST.get(profile.service)) is not None:
        raise ProviderRejected(why, code="no_list")
    endpoint = Endpoint(profile.base_url, key, service=profile.service, options=profile.client_options)
    faults = ErrorFactory(profile, "models", (key,) if key else (), wanted="a list of models")
    try:
        found = {offer.id: offer for offer in [_completed(profile, each) async for each in _listed(endpoint, faults)]}
    except TimeoutError:
        raise faults.timeout(_PATIENCE_S) from None
    finally:
        await endpoint.aclose()
    return sorted(found.values(), key=lambda offer: offer.id)


async def _listed(endpoint: Endpoint, faults: ErrorFactory) -> AsyncIterator[Offer]:
    """Yield the models of every page. Anthropic's pages are requested by the last id of the page before."""
    paged = faults.profile.wire == "messages"
    path = "/v1/models?limit=1000" if paged else "/models"
    seen: set[str] = set()
    after = ""
    for _ in range(_MOST_PAGES):
        page = await _page(endpoint, path + after, faults)
        for offer in _read(page, faults):
            yield offer
        last = at(page, "last_id")
        if not paged or at(page, "has_more") is not True or not isinstance(last, str) or last in seen:
            return
        seen.add(last)
        after = f"&after_id={quote(last, safe='')}"


async def _page(endpoint: Endpoint, path: str, faults: ErrorFactory) -> Any:
    client = endpoint.open()
    try:
        async with Deadline(_PATIENCE_S):
            answer = await client.get(path)
    except NoAnswer as error:
        raise faults.connection(error) from None
    except AnswerNotRead as refused:
        raise faults.bad_envelope(str(refused)) from None
    if answer.status in {404, 405, 501}:
        what = f"{faults.profile.provider} has no list of models at {faults.profile.host} (HTTP {answer.status})"
        raise ProviderRejected(what, code="no_list", status=answer.status)
    if not 200 <= answer.status < 300:
        raise faults.status(answer.status, answer.headers, answer.body)
    return decoded(answer.body, answer.headers.get("content-type", ""), faults)


def _read(page: Any, faults: ErrorFactory) -> Iterator[Offer]:
    """Yield the models in one answer: `{"data": [...]}`, `{"models": [...]}` or the list alone (Together).

    A model is an object or its id alone. If the models are themselves in an object, its keys are the ids.
    """
    lists = [page] if isinstance(page, list) else [at(page, "data"), at(page, "models")]
    found = next((each for each in lists if isinstance(each, (list, Mapping))), None)
    if isinstance(page, Mapping):
        raise_stated_error(page, found, faults)
    if found is None:
        raise _no_list(faults)
    for row in found if isinstance(found, list) else _by_id(found):
        said = row if isinstance(row, str) else next(filter(None, (at(row, key) for key in _NAMES)), None)
        name = word(said, faults.secrets)
        if name is not None:
            yield Offer(
                name.removeprefix("models/"),  # Gemini
                _number(row, _CONTEXT) or _number(row, _TRAINED),
                _number(row, _REPLY),
                _price(row, "prompt", "input"),
                _price(row, "completion", "output"),
            )


def _by_id(found: Mapping[str, Any]) -> Iterator[object]:
    for name, row in found.items():
        yield {"id": name, **row} if isinstance(row, Mapping) else name


def _no_list(faults: ErrorFactory) -> ModelError:
    what = f"{faults.profile.provider}: the answer of {faults.profile.host} is no list of models"
    return ProviderRejected(what, code="no_list", status=200)


def _number(row: Any, names: tuple[str, ...]) -> int | None:
    """Return the tokens under the first of `names` that is set, in the model's object or in a nested one, or None."""
    for path in ((), *_NESTED):
        table = at(row, *path)
        for name in names:
            if found := count(at(table, name)):
                return found
    return None


def _price(row: Any, per_token: str, per_million: str) -> float | None:
    """Return a price per million tokens: OpenRouter gives dollars per token as text, Together dollars per million."""
    for name, factor in ((per_token, 1_000_000), (per_million, 1)):
        said = at(row, "pricing", name)
        try:
            price = float(said) if isinstance(said, str | int | float) and not isinstance(said, bool) else -1.0
        except ValueError:
            continue
        if 0 <= price * factor < 1_000_000:
            return round(price * factor, 6)
    return None


def _completed(profile: Profile, offer: Offer) -> Offer:
    """Return the offer with the gaps filled from the catalog."""
    name = f"{profile.provider}/{offer.id}"
    price: Mapping[str, float] = listed_price(name) if profile.is_own else {}
    return Offer(
        offer.id,
        offer.context or (context_window(name) if profile.is_own else None),
        offer.max_output or most_output(offer.id),
        offer.input if offer.input is not None else price.get("input"),
        offer.output if offer.output is not None else price.get("output"),
    )
