"""Tables stored anew for quick questions, and what their owner hears of them: what of the data does not count, and why.

All of it is exact, and for the owner alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from sfumato.numeric.rationals import decimal_text
from sfumato.query.policy.claims import Claim
from sfumato.session.asking.typical_questions import EPSILONS, TypicalError
from sfumato.session.opening.examination import BindingLimit, ColumnLosses, Examination

_LABEL: Final = "Exact numbers of private rows, for the owner alone: show them to nobody else."


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """For the owner alone: exact numbers of private rows, shown by `print` and kept nowhere.

    Attributes:
        violations: For each table, its claims and how many rows break each of them.
        examinations: For each table, what of its rows does not count as it is stored.
        errors: For each table, how far the answers to typical questions would err.
    """

    violations: Mapping[str, Mapping[Claim, int]] = field(repr=False)
    examinations: Mapping[str, Examination] = field(default_factory=dict, repr=False)
    errors: Mapping[str, tuple[TypicalError, ...]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        frozen = {name: MappingProxyType(dict(claims)) for name, claims in self.violations.items()}
        object.__setattr__(self, "violations", MappingProxyType(frozen))
        object.__setattr__(self, "examinations", MappingProxyType(dict(self.examinations)))
        object.__setattr__(self, "errors", MappingProxyType(dict(self.errors)))

    def __repr__(self) -> str:
        return f"<Preparation of {', '.join(self.violations)}: print it to see what does not count; for the owner>"

    def __str__(self) -> str:
        lines = [_LABEL]
        for name, claims in self.violations.items():
            lines += ["", *_claims(name, claims)]
            if name in self.examinations:
                lines += _examination(self.examinations[name])
            lines += _errors(self.errors.get(name, ()))
        return "\n".join(lines)


def _claims(name: str, claims: Mapping[Claim, int]) -> Iterator[str]:
    yield f"{name}:" if claims else f"{name}: nothing is claimed"
    for claim, count in claims.items():
        yield f"  {claim}: {_rows(count)} {'does' if count == 1 else 'do'} not hold to it"


def _examination(found: Examination) -> Iterator[str]:
    units = "" if found.units is None else f" of {_several(found.units, 'unit')}"
    yield f"  stored: {_rows(found.rows)}{units}"
    for column in found.columns:
        losses = [f"{_rows(count)} {text}" for count, text in _losses(column) if count]
        yield f"  column {column.column}: {', '.join(losses) or 'every row counts as it is stored'}"
    for limit in found.limits:
        yield f"  {_limit(limit)}"


def _losses(column: ColumnLosses) -> Iterator[tuple[int | None, str]]:
    yield column.missing, "NULL" if column.unparsed is not None else "NULL or not of the declared type"
    yield column.unparsed, "not of the declared type (read as NULL)"
    yield column.below, "below the bounds (clamped)"
    yield column.above, "above the bounds (clamped)"
    yield column.unlisted, "not in values (in no group)"
    yield column.cut, "longer than max_length (cut)"


def _limit(limit: BindingLimit) -> str:
    """The limit, who is above it, and how much that is."""
    shown = f"{limit.limit} = {limit.most}" + ("" if limit.by is None else f", grouped by {limit.by} alone")
    if limit.units == 0:
        return f"{shown}: binds nobody"
    who = _several(limit.units, "group of units" if limit.what == "rows of a group" else "unit")
    return f"{shown}: binds {who}, {_several(limit.beyond, 'group' if limit.what == 'groups' else 'row')} beyond it"


def _errors(errors: tuple[TypicalError, ...]) -> Iterator[str]:
    if errors:
        yield f"  errors at ε {', '.join(map(decimal_text, EPSILONS))}, each question alone, with 95%:"
    for error in errors:
        widths = ", ".join("no noise is so wide" if width is None else f"± {width:,.6g}" for width in error.half_widths)
        yield f"    {error.question}: {widths}" + (f" ({error.assumption})" if error.assumption else "")


def _several(count: int, noun: str) -> str:
    """A count and what is counted, such as "1 row" or "1,234 groups of units"."""
    first, *rest = noun.split(" ", 1)
    return f"{count:,} {' '.join([first if count == 1 else f'{first}s', *rest])}"


def _rows(count: int) -> str:
    return _several(count, "row")
