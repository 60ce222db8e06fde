"""Headers: what a request says of us: the key, the encoding, and at OpenAI the account of the environment.

Where a key comes from is `keys`; `Content-Length`, `Host` and the like belong to the transport.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from agentsim import __version__
from agentsim.errors import ScenarioError
from agentsim.models.intake import ASKED_ENCODING

__all__ = ["headers_for"]

_VARIABLES = {"openai-organization": "OPENAI_ORG_ID", "openai-project": "OPENAI_PROJECT_ID"}
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")


def headers_for(base_url: str, key: str | None) -> Mapping[str, str]:
    """The headers of every request to this address.

    `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID` and `OPENAI_CUSTOM_HEADERS` are meant for OpenAI: there they are what the SDK
    makes of them, and nowhere else is anything of it sent. A key is said outright, whatever a custom header says.
    Raises `ScenarioError` for one of them that no header can hold; it names the variable and never its value.
    """
    headers = _of_the_sdk(base_url, key) if key and _is_openai(base_url) else {"User-Agent": f"agentsim/{__version__}"}
    ours = {"Accept": "application/json", "Content-Type": "application/json", "Accept-Encoding": ASKED_ENCODING}
    if key:
        ours["Authorization"] = f"Bearer {key}"
    named = {name.lower() for name in ours}
    return {name: value for name, value in headers.items() if name.lower() not in named} | ours


def _is_openai(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    return host == "api.openai.com" or host.endswith(".api.openai.com")


def _of_the_sdk(base_url: str, key: str) -> dict[str, str]:
    import openai  # half a second, so only where it has something to say

    unused = openai.DefaultHttpxClient(verify=False, trust_env=False)  # the SDK's own would ask for the proxy too
    with openai.OpenAI(base_url=base_url, api_key=key, http_client=unused) as client:
        given = {name: value for name, value in client.default_headers.items() if isinstance(value, str)}
    for name, value in given.items():
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            variable = _VARIABLES.get(name.lower(), "OPENAI_CUSTOM_HEADERS")
            raise ScenarioError(f"the environment variable {variable} has characters that no header has (a line break)")
    return given
