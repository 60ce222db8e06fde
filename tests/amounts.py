"""Parts of long tests: each run checks a part of the cases, the slow tests check all, or those that a test names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from typing import Any

import pytest
from hypothesis import settings


def amounts(name: str, part: object, whole: object) -> pytest.MarkDecorator:
    """Parametrize a test by the amount it checks; `-m slow` selects the larger."""
    return pytest.mark.parametrize(name, [part, pytest.param(whole, marks=pytest.mark.slow)])


def some_of(name: str, cases: Mapping[str, Any] | Iterable[str], *kept: str) -> pytest.MarkDecorator:
    """Parametrize a test by cases, or by their names alone; only those in `kept` are in every run."""
    by_name = cases if isinstance(cases, Mapping) else {case: case for case in cases}
    assert by_name.keys() >= set(kept)
    slow = {case: [pytest.mark.slow] * (case not in kept) for case in by_name}
    return pytest.mark.parametrize(name, [pytest.param(by_name[case], id=case, marks=slow[case]) for case in by_name])


def one_in(count: int) -> pytest.MarkDecorator:
    """Mark a parametrized test of which one row in `count` is in every run, and every row in the slow tests."""
    return pytest.mark.one_in(count)


def examples(thorough: int) -> settings:
    """Return the settings of a property that is tried this often in the thorough profile.

    Other profiles try the same share of it as of the properties that have no number, of which the thorough one tries a
    hundred.
    """
    return settings(max_examples=max(1, thorough * settings().max_examples // 100))


def each_row(names: str, rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Check all rows in one test, which names every row that fails.

    Use it in place of `pytest.mark.parametrize` if a row takes less than the two milliseconds that pytest takes for a
    case, and if the rows can share their fixtures. Names and rows are written as they are there.
    """
    of_row, table = [name.strip() for name in names.split(",")], list(rows)
    assert table, "a test of no rows cannot fail"
    assert not any(isinstance(row, type(pytest.param())) for row in table), "`pytest.param` is for cases of their own"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def check_rows(**fixtures: Any) -> None:
            failures: list[Exception | BaseException] = []
            for row in table:
                try:
                    test(**fixtures, **dict(zip(of_row, row if len(of_row) > 1 else [row], strict=True)))
                except (Exception, pytest.fail.Exception) as error:  # as of `pytest.raises`, which is no `Exception`
                    error.add_note(f"in the row {row!r:.500}")
                    failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(table)} rows fail", failures)

        asked = signature(test)
        fixtures = [given for name, given in asked.parameters.items() if name not in of_row]
        check_rows.__signature__ = asked.replace(parameters=fixtures)  # type: ignore[attr-defined] # for pytest
        return check_rows

    return decorate
