import csv
import io
import json
from fractions import Fraction

import pytest

from sfumato.accounting.composition.basic import BasicAccountant
from sfumato.accounting.gaussian.gdp import GDPAccountant
from sfumato.accounting.profile_points import ProfilePoints
from sfumato.errors import ParameterError
from sfumato.privacy.events import GaussianEvent, NonPrivateEvent

DELTAS = ["1e-3", "1e-6", Fraction(1, 3), 0]


def test_points_are_those_of_the_accountant():
    account = GDPAccountant().compose(GaussianEvent(2), count=3)
    points = ProfilePoints.of(account, deltas=DELTAS)
    assert points.epsilons == tuple(account.epsilon(delta) for delta in DELTAS) == account.epsilons(DELTAS)
    assert points.deltas == (Fraction(1, 1000), Fraction(1, 10**6), Fraction(1, 3), 0)


@pytest.mark.parametrize("of", ["csv", "json"])
def test_files_say_no_less_than_was_proved(of):
    points = ProfilePoints.of(GDPAccountant().compose(GaussianEvent(2), count=3), deltas=DELTAS)
    text = points.to_csv() if of == "csv" else points.to_json()
    rows = list(csv.DictReader(io.StringIO(text))) if of == "csv" else json.loads(text)
    for row, delta, epsilon in zip(rows, points.deltas, points.epsilons, strict=True):
        if row["epsilon"] in {None, "inf"}:
            assert epsilon == float("inf")
            continue
        assert Fraction(row["delta"]) >= delta
        assert Fraction(epsilon) <= Fraction(row["epsilon"]) <= Fraction(epsilon) * (1 + Fraction(1, 10**10))
    assert (rows[3]["epsilon"] == "inf") is (of == "csv")


def test_what_is_not_private_has_no_limit():
    points = ProfilePoints.of(BasicAccountant().compose(NonPrivateEvent()), deltas=["1e-6"])
    assert points.to_csv() == "delta,epsilon\n1e-6,inf\n"
    assert json.loads(points.to_json()) == [{"delta": "1e-6", "epsilon": None}]
    with pytest.raises(ParameterError, match="deltas"):
        ProfilePoints.of(BasicAccountant(), deltas=[-1])
