"""Small attributes and rows of them, for tables of generalized values."""

from fractions import Fraction

import numpy as np

from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.privacy.secret import Secret
from sfumato.query.model.kinds import Kind
from sfumato.session.training.attributes import Attribute
from sfumato.synth.generalization.hierarchies import hierarchy_of
from sfumato.synth.generalization.plan import GeneralizationPlan
from sfumato.synth.generalization.scores import ClassRows

PET = Attribute(name="pet", kind=Kind.TEXT, values=("cat", "owl", "dog"), missing="missing")
AGE = Attribute(name="age", kind=Kind.INTEGER, edges=tuple(map(Fraction, (0, 10, 20, 30))))
ILL = Attribute(name="ill", kind=Kind.BOOLEAN, values=(False, True), missing=2)
PETS = {"mammal": ["dog", "cat"], "other": {"bird": ["owl"], "none": [None]}}
HIERARCHIES = (hierarchy_of(PET, PETS), hierarchy_of(AGE))


class Query:
    """What is known of a query whose units have so many rows at most."""

    def __init__(self, attributes=(PET, AGE, ILL), rows_per_unit=1):
        self.attributes, self.rows_per_unit = attributes, rows_per_unit

    def sensitivity(self, _names, relation):
        times = 1 if relation is ADD_OR_REMOVE_ONE else 2

        class Moved:
            l1 = times * self.rows_per_unit

        return Moved


class Given:
    """Rows of pet, age and class as numbers of values, with how often each is there; as marginals have them."""

    def __init__(self, rows):
        self.rows = dict(rows)

    def different_rows(self, names):
        assert names == ("pet", "age", "ill")
        return Secret((np.array(list(self.rows), dtype=np.int64).reshape(-1, 3), np.array(list(self.rows.values()))))


def plan_of(epsilon=2, *, steps=2, most_cells=100, relation=ADD_OR_REMOVE_ONE, query=None, hierarchies=HIERARCHIES):
    return GeneralizationPlan(
        query=query or Query(), relation=relation, charge=PureDP(epsilon), columns=("pet", "age"), target="ill",
        hierarchies=hierarchies, steps=steps, most_cells=most_cells,
    )  # fmt: skip


def rows_of(given):
    """All rows that have a class."""
    codes = np.array(list(given), dtype=np.int64).reshape(-1, 3)
    amounts = np.array(list(given.values()), dtype=np.int64)
    return ClassRows(codes=codes[:, :-1], labels=codes[:, -1], amounts=amounts, classes=2)
