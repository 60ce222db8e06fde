"""Tables and figures for a paper: text, Markdown and LaTeX (booktabs), and plots as SVG files or in characters.

Panels come in as data; nothing here knows how they were estimated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from agentsim.engine.panel import Cell, DataTable, Estimates, Forest, Panel, Struck
from agentsim.engine.wording import aligned, cleaned
from agentsim.patterns import Pattern
from agentsim.report.charts import forest, numbers_of, ranges, zero_and_units
from agentsim.report.markup import environment

SUGGESTED = "Suggested sentence"
_WIDEST = 80
"""The most characters of a table's cell in text."""
_PLOT = 40
"""The characters of a forest plot's axis in text."""


def _one_line(value: Cell, limit: int | None = None) -> str:
    text = " ".join(cleaned("–" if value is None else str(value)).split())
    return text if limit is None or len(text) <= limit else text[: limit - 1] + "…"


def _in_text(value: Cell) -> str:
    line = _one_line(value, _WIDEST)
    return f"~~{line}~~" if isinstance(value, Struck) else line


def text(panel: Panel) -> str:
    """Return a table or a forest plot as lines of text, "" for any other panel: a table holds its numbers, too."""
    if isinstance(panel, Forest):
        return "\n".join((panel.title, *_plotted(panel), panel.note)).rstrip()
    if not isinstance(panel, DataTable):
        return ""
    rows = [[_in_text(cell) for cell in row] for row in (panel.columns, *panel.rows)]
    sentence = panel.sentence and f"{SUGGESTED}: {panel.sentence}"
    return "\n".join(filter(None, (cleaned(panel.title), *aligned(rows), cleaned(panel.note), cleaned(sentence))))


def _plotted(panel: Forest) -> Iterator[str]:
    """Yield the lines of a forest plot: a heading per group, then a row of characters for each interval."""
    share, units = zero_and_units(panel.groups)
    names = [_one_line(row.name, _WIDEST) for group in panel.groups for row in group.rows]
    room = max(map(len, names), default=0) + 4
    zero = round(share * (_PLOT - 1))
    for group, unit in zip(panel.groups, units, strict=True):
        yield f"{_one_line(group.title, room + zero - 1):<{room + zero}}0"
        for row, numbers in zip(group.rows, numbers_of(group), strict=True):

            def at(value: float, unit: float = unit) -> int:
                return min(_PLOT - 1, max(0, zero + round(value * unit * (_PLOT - 1))))

            marks = [" "] * _PLOT
            if row.low is not None and row.high is not None:
                low, high = at(row.low), at(row.high)
                marks[low : high + 1] = "─" * (high - low + 1)
                marks[low], marks[high] = "├", "┤"
            marks[zero] = "│" if marks[zero] == " " else "┼"
            marks[at(row.value)] = "●"
            yield f"{'  ' + _one_line(row.name, _WIDEST):<{room}}{''.join(marks)} {numbers}".rstrip()


def markdown(panel: DataTable) -> str:
    """Return a table in Markdown, with its title, note and sentence."""
    right = _numeric(panel)
    rule = ["---:" if each else "---" for each in right]
    rows = [[_in_markdown(cell) for cell in row] for row in (panel.columns, *panel.rows)]
    lines = ["| " + " | ".join(row) + " |" for row in (rows[0], rule, *rows[1:])]
    parts = [f"**{_in_markdown(panel.title)}**", "\n".join(lines)]
    return "\n\n".join((*parts, *map(_in_markdown, filter(None, (panel.note, panel.sentence)))))


def html(panels: Sequence[Panel]) -> str:
    """Return tables and forest plots as HTML for a notebook, with SVG for the plots."""
    drawn = []
    for panel in panels:
        if isinstance(panel, Forest):
            drawn.append(svg(panel).partition("?>")[2])
        elif isinstance(panel, DataTable):
            rows = [Markup().join(_in_html(cell) for cell in row) for row in panel.rows]
            heads = Markup().join(Markup("<th>{}</th>").format(_one_line(column)) for column in panel.columns)
            body = Markup().join(Markup("<tr>{}</tr>").format(row) for row in rows)
            table = Markup("<table><caption>{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table>")
            drawn.append(str(table.format(cleaned(panel.title), heads, body)))
            drawn += (str(Markup("<p>{}</p>").format(cleaned(line))) for line in (panel.note, panel.sentence) if line)
    return "\n".join(drawn)


def _in_html(value: Cell) -> Markup:
    shown = Markup("<td><s>{}</s></td>") if isinstance(value, Struck) else Markup("<td>{}</td>")
    return shown.format(_one_line(value))


def _in_markdown(value: Cell) -> str:
    line = re.sub(r"([\\`*_|<>\[\]])", r"\\\1", _one_line(value))
    return f"~~{line}~~" if isinstance(value, Struck) else line


_LATEX = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "\0": "-{}",  # between hyphens, which would be joined to a dash
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "\u2212": "$-$",
    "\u00d7": r"$\times$",
    "\u2192": r"$\rightarrow$",
}
_NEGATIVE = Pattern(r"(?<![\w.$-])-(?=\d)")


def latex(panel: DataTable, label: str) -> str:
    """Return a table as a LaTeX float with the rules of booktabs; its `label` follows `tab:`."""
    right = _numeric(panel)
    rows = [" & ".join(map(in_latex, row)) + r" \\" for row in (panel.columns, *panel.rows)]
    lines = [
        r"\begin{table}[t]",
        r"\centering\small",
        rf"\caption{{{in_latex(panel.title)}}}",
        rf"\label{{tab:{re.sub('[^a-z0-9-]+', '-', label.lower())}}}",
        rf"\begin{{tabular}}{{{''.join('r' if each else 'l' for each in right)}}}",
        *(r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule"),
        r"\end{tabular}",
    ]
    if panel.note:
        lines += [r"\par\smallskip", rf"\parbox{{0.95\linewidth}}{{\footnotesize {in_latex(panel.note)}}}"]
    return "\n".join((*lines, r"\end{table}"))


def in_latex(value: Cell) -> str:
    """Return a cell as LaTeX text; a minus before a number is a minus sign. Struck cells need the package ulem."""
    marks = re.sub("-(?=-)", "\0", _NEGATIVE.sub("\u2212", _one_line(value)))
    found = "".join(_LATEX.get(mark, mark) for mark in marks)
    return rf"\sout{{{found}}}" if isinstance(value, Struck) else found


def _numeric(panel: DataTable) -> list[bool]:
    """Return for each column whether all of its cells begin like a number, or are empty."""
    columns = list(zip(*panel.rows, strict=True)) or [()] * len(panel.columns)
    return [
        any(cell is not None for cell in column)
        and all(cell is None or re.match(r"[+\u2212$(-]*\d", str(cell)) for cell in column)
        for column in columns
    ]


def svg(panel: Forest | Estimates) -> str:
    """Return a plot as an SVG document for print: black on no background, with its own style."""
    drawn = forest(panel, {}) if isinstance(panel, Forest) else ranges(panel, {})
    return environment().get_template("figure.svg.j2").render(plot=drawn).strip() + "\n"


def plots(panels: Sequence[Panel]) -> list[Forest | Estimates]:
    """Return the plots of effects and estimates."""
    return [panel for panel in panels if isinstance(panel, Forest | Estimates)]
