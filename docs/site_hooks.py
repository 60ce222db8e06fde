"""What the site of docs/ has beside its files: the reference of commands and of the Python API, and formulas as MathML.

mkdocs calls `on_page_markdown` and `on_page_content` for each page (`hooks` in mkdocs.yml).
"""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer.main

import agentsim
from agentsim.cli.app import app

FORMULAS = {"inference.md"}
"""The pages in which dollar signs enclose formulas."""
_FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\\w$])\$(?!\s)([^$]+?)(?<!\s)\$(?!\w)", re.DOTALL)
_MODULES = re.compile(r"\b(?:[a-z_]+\.)+(?=[A-Z])")
_TYPE = re.compile(r" <[\w.\[\]]+>$")
"""What typer puts behind the name of an argument."""
_LONG = re.compile(r"(?<=<code>)[^<\s]{41,}(?=</code>)")
"""A name that is wider than a telephone, such as a test's."""
_formulas: dict[str, list[str]] = {}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Append what is made from the code, and put formulas away, whose signs are no Markdown."""
    name = page.file.src_uri
    if name in FORMULAS:
        found = _formulas[name] = []
        return _FORMULA.sub(lambda match: _put_away(match, found), markdown)
    made = {"commands.md": commands, "python.md": python_api}.get(name)
    return "\n".join((markdown, *made(), "")) if made else markdown


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Put the formulas back, as MathML, and let long names break between their words."""
    for number, formula in enumerate(_formulas.pop(page.file.src_uri, ())):
        content = content.replace(f"<p>{_place(number)}</p>", f'<div class="formula">{formula}</div>')
        content = content.replace(_place(number), formula)
    return _LONG.sub(lambda name: re.sub("::|[/_]", r"\g<0><wbr>", name[0]), content)


def commands() -> Iterator[str]:
    """Yield the reference of all commands, in Markdown."""
    yield "## All options"
    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        if command.hidden:
            continue
        context = command.make_context(name, [], resilient_parsing=True)
        yield f"\n### agentsim {name} {{ #{name} }}\n"
        yield f"{_prose(command.help)}\n"
        yield f"    agentsim {name} {' '.join(command.collect_usage_pieces(context))}\n"
        records = [param.get_help_record(context) or _argument(param, context) for param in command.params]
        if rows := [(names, text) for names, text in records if names and "--help" not in names]:
            yield "| option | |"
            yield "|---|---|"
            yield from (f"| `{_cell(_TYPE.sub('', names))}` | {_cell(_prose(text))} |" for names, text in rows)


def _argument(param: Any, context: Any) -> tuple[str, str]:
    return param.make_metavar(context), getattr(param, "help", None) or ""


def python_api() -> Iterator[str]:
    """Yield the signatures and docstrings of what `agentsim` exports, in Markdown."""
    yield "## All names"
    for name in (name for name in agentsim.__all__ if name != "__version__"):
        found = getattr(agentsim, name)
        yield f"\n### agentsim.{name} {{ #{name.lower()} }}\n"
        if not inspect.isclass(found):
            yield f"```python\n{_signature(name, found)}\n```\n"
        yield _docstring(found)
        if inspect.isclass(found):
            members = [(each, vars(found)[each]) for each in vars(found) if not each.startswith("_")]
            documented = [(each, member) for each, member in members if _documented(member)]
            if documented:
                yield "\n| member | |\n|---|---|"
                yield from (f"| `{each}` | {_cell(_prose(_docstring(member)))} |" for each, member in documented)


def _documented(member: Any) -> bool:
    described = isinstance(member, property) or callable(member) or hasattr(member, "func")
    return described and bool(inspect.getdoc(getattr(member, "func", member)))


def _docstring(found: Any) -> str:
    return inspect.getdoc(getattr(found, "func", found)) or ""


def _signature(name: str, function: Any) -> str:
    """Return the call, one parameter a line, without the types of its arguments' modules."""
    prefix = "await " if inspect.iscoroutinefunction(function) else ""
    parameters = inspect.signature(function).parameters.values()
    lines = [f"    {_MODULES.sub('', str(each))}," for each in parameters]
    star = next((place for place, each in enumerate(parameters) if each.kind is each.KEYWORD_ONLY), None)
    if star is not None:
        lines.insert(star, "    *,")
    return "\n".join((f"{prefix}agentsim.{name}(", *lines, ")"))


def _prose(text: str | None) -> str:
    return " ".join((text or "").split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;") if "`" not in text else text.replace("|", "\\|")


def _place(number: int) -> str:
    return f"formula-{number}-"


def _put_away(match: re.Match[str], found: list[str]) -> str:
    import latex2mathml.converter  # of the group `docs`, which type checks and the other tests do without

    display = "block" if match[1] else "inline"
    found.append(latex2mathml.converter.convert(html.unescape(match[1] or match[2]), display=display))
    return _place(len(found) - 1)
