"""Parallel composition: one part of people for each value, of which the k most expensive are charged."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from sfumato.errors import ParameterError
from sfumato.noise.entropy import random_bytes
from sfumato.numeric.rationals import positive_integer
from sfumato.privacy.neighbors import EachRow
from sfumato.query.model.relations import Part, Relation, Source
from sfumato.query.model.schema import Key, Table
from sfumato.session.asking.pipeline import Desk, charged_part
from sfumato.session.asking.view import View


class Partition(Mapping[Key, View]):
    """A table cut by public values of a column: each part is asked like a session of its own, beside public tables.

    **Guarantee**: a unit lies in at most k = `max_parts_per_unit` parts, whatever the data, because further ones are
    left out by a salted choice that all parts share. All answers together cost what the k most expensive parts cost
    (the 2k most expensive where a unit is replaced by another): parallel composition over people, not over rows.

    Args:
        desk: Who answers.
        table: The table that is cut.
        by: The column whose values name the parts.
        values: The public values; rows with others lie in no part.
        max_parts_per_unit: In how many parts one unit may lie.

    Raises:
        ParameterError: No such column, values of another type, a public table, or more than one part for a unit that
            is one row.

    References:
        [McS09] Theorem 4.
    """

    def __init__(self, desk: Desk, table: Table, *, by: str, values: tuple[Key, ...], max_parts_per_unit: int) -> None:
        self._check(table, by, values, max_parts_per_unit)
        public: dict[str, Relation] = {
            other.name: Source(other) for other in desk.policy.tables.values() if other.is_public
        }
        first = Part(
            child=Source(table), by=by, values=values, value=values[0], max_parts_per_unit=max_parts_per_unit,
            salt=random_bytes(16).hex(),
        )  # fmt: skip
        self._views = MappingProxyType(
            {
                value: View(
                    desk,
                    public | {table.name: replace(first, value=value)},
                    charged_part(replace(first, value=value)),
                )
                for value in values
            }
        )

    def __getitem__(self, value: Key) -> View:
        if value not in self._views:
            raise ParameterError("part", value, f"must be one of: {', '.join(map(repr, self._views))}")
        return self._views[value]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)

    @staticmethod
    def _check(table: Table, by: str, values: tuple[Key, ...], max_parts_per_unit: int) -> None:
        positive_integer(max_parts_per_unit, "max_parts_per_unit")
        replace(table.column(by), values=values)  # the column's own checks: type, at least one, each once
        if table.is_public:
            raise ParameterError("table", table.name, "is public: it has no people to be parted; filter it")
        if isinstance(table.unit, EachRow) and max_parts_per_unit != 1:
            raise ParameterError("max_parts_per_unit", max_parts_per_unit, "must be 1 where each row is a unit")
