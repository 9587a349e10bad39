"""The schemas and rows of analyst_statements.toml: policies, and tables made up by its rules from a fixed seed."""

import datetime as dt
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa

from sfumato.query.model.schema import Table
from sfumato.query.policy.document import PolicyDocument, origin_of
from sfumato.query.policy.file import policy_tables
from sfumato.query.policy.policy import Place, Policy, SourceFacts

DOCUMENT = tomllib.loads(Path(__file__).with_name("analyst_statements.toml").read_text("utf-8"))
SECONDS_OF_DAY = 86_400


@dataclass(frozen=True)
class Schema:
    """A policy without sources, and its rows."""

    name: str
    tables: dict[str, Table]
    rows: dict[str, pa.Table]
    values_from: dict[Place, Place]
    document: PolicyDocument

    def policy(self, sources):
        """The policy over sources, such as the rows themselves."""
        return Policy(
            dataset=self.document.dataset, version=self.document.version, data_version=self.document.version,
            unit_name=self.document.unit.name, tables=self.tables,
            sources={name: SourceFacts(source=source) for name, source in sources.items()},
            values_from=self.values_from,
        )  # fmt: skip


@cache
def schema(name):
    """A schema of the file by its name."""
    entry = dict(DOCUMENT["schema"][name])
    rules = entry.pop("data")
    tables = {table: {"source": f"{table}.parquet", **_declared(facts)} for table, facts in entry["tables"].items()}
    document = PolicyDocument.model_validate({**entry, "tables": tables})
    found = {
        Place(table, column): origin_of(facts.values_from)
        for table, own in document.tables.items()
        for column, facts in own.columns.items()
        if facts.values_from is not None
    }
    return Schema(name, policy_tables(document.tables), _Rows(name, rules).tables(), found, document)


def _declared(facts):
    """What is declared of a table; where each row is a unit, that it has at most one says nothing, and is refused."""
    is_unit = facts["unit"] == "row" and facts.get("max_rows_per_unit") == 1
    return {name: value for name, value in facts.items() if not (is_unit and name == "max_rows_per_unit")}


class _Rows:
    """The rows of one schema, table by table in the order in which they are written."""

    def __init__(self, name, rules):
        self._name, self._rules = name, rules
        self._made = {}

    def tables(self):
        for table, rule in self._rules.items():
            self._made[table] = self._columns(table, rule)
        return {table: pa.table(columns) for table, columns in self._made.items()}

    def _columns(self, table, rule):
        parent, parents = self._parents(table, rule)
        count = rule["rows"] if parent is None else len(parents)
        self._others = {}
        columns = {}
        for column, how in rule["columns"].items():
            draw = np.random.default_rng(crc32(f"{self._name}.{table}.{column}".encode()))
            found = self._column(draw, count, how, columns, parent, parents)
            if "null" in how:
                found = [
                    None if drawn < how["null"] else one for drawn, one in zip(draw.random(count), found, strict=True)
                ]
            columns[column] = found
        return columns

    def _parents(self, table, rule):
        """For each row the row of the parent."""
        if "rows_per" not in rule:
            return None, None
        of = rule["rows_per"]
        draw = np.random.default_rng(crc32(f"{self._name}.{table}".encode()))
        sizes = draw.integers(
            of["low"], of["high"], endpoint=True, size=len(next(iter(self._made[of["table"]].values())))
        )
        return of["table"], np.repeat(np.arange(len(sizes)), sizes)

    def _column(self, draw, count, how, own, parent, parents):
        match how:
            case {"serial": first}:
                return list(range(first, first + count))
            case {"ordinal": first}:
                starts = np.searchsorted(parents, parents)
                return [int(place) + first for place in np.arange(count) - starts]
            case {"key_of": place}:
                return self._of_row(draw, count, place, parent, parents)
            case {"cycle": place}:
                values = self._values(place)
                return [values[row % len(values)] for row in range(count)]
            case {"list": values}:
                return list(values)
            case {"shift": place, "integer": [low, high]}:
                base = own[place] if place in own else self._of_row(draw, count, place, parent, parents)
                moves = draw.integers(low, high, endpoint=True, size=count).tolist()
                return [_moved(one, move) for one, move in zip(base, moves, strict=True)]
            case {"integer": [low, high]}:
                return draw.integers(low, high, endpoint=True, size=count).tolist()
            case {"decimal": [low, high], "places": places}:
                return draw.uniform(float(low), float(high), size=count).round(places).tolist()
            case {"choice": values}:
                weights = np.array(how.get("weights", [1] * len(values)), dtype=float)
                return [values[place] for place in draw.choice(len(values), size=count, p=weights / weights.sum())]
            case {"date": span}:
                first, last = _days(span)
                days = draw.integers(0, (last - first).days, endpoint=True, size=count).tolist()
                return [first + dt.timedelta(days=day) for day in days]
            case {"timestamp": span}:
                first, last = _days(span)
                seconds = draw.integers(0, ((last - first).days + 1) * SECONDS_OF_DAY, size=count).tolist()
                return [dt.datetime.combine(first, dt.time()) + dt.timedelta(seconds=one) for one in seconds]
            case {"text": pattern}:
                return [pattern.format(n=row + 1) for row in range(count)]
            case _:
                raise ValueError(how)

    def _values(self, place):
        table, _, column = place.partition(".")
        return self._made[table][column]

    def _of_row(self, draw, count, place, parent, parents):
        """A column of the parent's row, or of a random row: of one table the same for all columns of a row."""
        table = place.partition(".")[0]
        values = self._values(place)
        if table == parent:
            return [values[row] for row in parents]
        if table not in self._others:
            self._others[table] = draw.integers(0, len(values), size=count)
        return [values[row] for row in self._others[table]]


def _days(span):
    return tuple(dt.date.fromisoformat(day) for day in span.split(".."))


def _moved(value, move):
    if value is None:
        return None
    return value + dt.timedelta(days=move) if isinstance(value, dt.date) else value + move
