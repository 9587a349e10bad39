"""Small data for tests of models: columns, all rows on a coarse lattice, and all neighbors of small tables."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingColumn, TrainingRows

NUMBER = TrainingColumn(name="x", lower=Fraction(0), upper=Fraction(1), steps=2)
CENTERED = TrainingColumn(name="y", lower=Fraction(-1), upper=Fraction(1), steps=2)
KIND = TrainingColumn(name="kind", values=("a", "b", "c"))


def training_rows(records):
    """Rows and their target from records whose last number is the target."""
    table = np.array(records, dtype=np.int32).reshape(len(records), -1 if len(records) else 4)
    return TrainingRows(codes=table[:, :-1], target=table[:, -1])


def secret_rows(records):
    return Secret(training_rows(records))


def tables(records, *, most):
    """All multisets of up to so many records."""
    return [list(table) for size in range(most + 1) for table in combinations_with_replacement(records, size)]


def neighbors(records, *, most):
    """Pairs of tables of which one has a record more, and pairs in which one record is replaced."""
    added = [(table, [*table, record]) for table in tables(records, most=most) for record in records]
    replaced = [
        ([*table, first], [*table, second])
        for table in tables(records, most=most - 1)
        for first in records
        for second in records
        if first != second
    ]
    return added, replaced
