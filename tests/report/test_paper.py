"""Tables and figures for a paper, of any words in them."""

from __future__ import annotations

from xml.etree import ElementTree

from agentsim.engine.panel import DataTable, Estimate, Estimates, Forest
from agentsim.report.paper import html, in_latex, latex, markdown, svg, text

HOSTILE = DataTable(
    r"100% of \LaTeX_{A&B}",
    ("a|b", "n"),
    (("<b>$x^2$</b> ~ #1", 3), ("\x1b[31m--out", None)),
    note="Below 0: -1.5.",
)
PLOT = Forest(
    "Forest plot",
    (
        Estimates("rank of A", (Estimate("x", 1.0, 0.5, 1.5), Estimate("y", -2.0, -3.0, -1.0)), "rank"),
        Estimates("money of A", (Estimate("x", 100.0, -50.0, 250.0), Estimate("y", 0.0)), "money"),
    ),
)


def test_no_words_of_a_table_become_latex() -> None:
    found = latex(HOSTILE, "x")
    assert r"\caption{100\% of \textbackslash{}LaTeX\_\{A\&B\}}" in found
    assert r"\textless{}b\textgreater{}\$x\textasciicircum{}2\$" in found
    assert r"-{}-out & -- \\" in found, "two hyphens stay two, and an empty cell is a dash"
    assert r"Below 0: $-$1.5." in found
    assert "\x1b" not in found
    assert found.count("{") == found.count("}")
    assert r"\begin{tabular}{lr}" in found


def test_a_minus_is_one_before_a_number_alone() -> None:
    assert in_latex("(-0.2 to +1)") == "($-$0.2 to +1)"
    assert in_latex("gpt-5 of 2-3") == "gpt-5 of 2-3"


def test_no_words_of_a_table_become_markdown_or_html() -> None:
    rows = markdown(HOSTILE).splitlines()
    assert rows[2:5] == [r"| a\|b | n |", "| --- | ---: |", r"| \<b\>$x^2$\</b\> ~ #1 | 3 |"]
    assert "<b>" not in html([HOSTILE])
    assert "&lt;b&gt;" in html([HOSTILE])


def test_a_forest_plot_in_characters_has_one_line_at_zero() -> None:
    lines = text(PLOT).splitlines()
    zero = lines[1].index("0")
    assert [line[zero] for line in lines[1:]] == ["0", "│", "│", "0", "┼", "●"]
    assert lines[2].index("├") > zero > lines[3].index("┤")
    assert [line.split()[-4:] for line in lines[2:4]] == [
        *(["+1.00", "(+0.50", "to", "+1.50)"], ["-2.00", "(-3.00", "to", "-1.00)"])
    ]
    assert lines[6].split() == ["y", "●", "+0"], "an effect without an interval is a point"


def test_effects_of_models_with_long_names_are_named_in_full_in_text_and_figure() -> None:
    first, second = "model: openrouter/anthropic/claude-sonnet-4.6", "openrouter/openai/gpt-5-mini"
    rows = (Estimate(f"{first} vs. {second}", 1.0, 0.5, 1.5), Estimate("temperature: 1.2 vs. 0.2", 0.1, 0.0, 0.2))
    plot = Forest("Forest plot", (Estimates("rank", rows, "rank"),))
    assert f"{first} vs. {second}" in text(plot)
    drawn = ElementTree.fromstring(svg(plot))
    labels = [mark for mark in drawn.iter() if mark.get("class") == "row"]
    assert [label.text for label in labels] == [first, f"vs. {second}", "temperature: 1.2 vs. 0.2"]
    heights = [float(label.get("y") or 0) for label in labels]
    assert (heights[1] - heights[0], heights[2] - heights[0] > heights[1] - heights[0]) == (11, True)


def test_a_figure_is_a_document_of_its_own_with_numbers_and_a_line_at_zero() -> None:
    drawn = ElementTree.fromstring(svg(PLOT))
    marks = {
        kind: [mark for mark in drawn.iter() if (mark.get("class") or "").split()[:1] == [kind]]
        for kind in ("zero", "dot", "line")
    }
    assert {mark.get("x1") for mark in marks["zero"]} == {marks["zero"][0].get("x2")}
    assert (len(marks["zero"]), len(marks["dot"]), len(marks["line"])) == (2, 4, 3)
    zero = float(marks["zero"][0].get("x1") or 0)
    assert [float(dot.get("cx") or 0) > zero for dot in marks["dot"]] == [True, False, True, False]
    assert "+100 (\u221250 to +250)" in "".join(drawn.itertext())
    assert svg(PLOT.groups[0]).startswith("<?xml")
