"""Attacks on made-up rows: scores by hand, thresholds from the reference alone, and what a copy gives away."""

from math import log

import numpy as np
import pyarrow as pa
import pytest

from sfumato.attacks.members.made_up import copied_records, marginal_ratios, membership_in_rows
from sfumato.errors import ParameterError

RNG = np.random.default_rng(2024)
NAMES = ("a", "b", "c")


def people(count, values=12):
    return {name: RNG.integers(values, size=count).tolist() for name in NAMES}


def test_a_score_is_the_mean_log_of_how_much_more_common_values_are():
    records = {"a": [1, 2, 9], "b": ["x", "y", "x"]}
    made = {"a": [1, 1, 2], "b": ["x", "x", "y"]}
    usual = {"a": [1, 2, 2, 3, 3], "b": ["x"] * 4 + ["y"]}
    found = marginal_ratios(records, made, usual, groups=[("a",), ("a", "b")])
    shares = [(1.5 / 6, 1.5 / 6), (2.5 / 6, 0.5 / 6), (0.5 / 6, 0.5 / 6)]  # of a, and of a and b
    seen = [(2, 2), (1, 1), (0, 0)]
    alone, both = (
        [log((seen[at][group] + shares[at][group]) / 4) - log(shares[at][group]) for at in range(3)]
        for group in range(2)
    )
    assert found == pytest.approx([(one + other) / 2 for one, other in zip(alone, both, strict=True)])
    assert marginal_ratios(pa.table(records), pa.table(made), pa.table(usual), groups=[("a",), ("a", "b")]) == (
        pytest.approx(found)
    )


def test_a_copy_with_replacement_gives_members_away_and_other_rows_nobody():
    members, outsiders, reference, others = (people(count) for count in (200, 200, 5_000, 200))
    taken = RNG.integers(200, size=200)
    copy = {name: [members[name][place] for place in taken] for name in NAMES}
    asked = {"members": members, "outsiders": outsiders, "reference": reference, "groups": [NAMES]}
    found = membership_in_rows(copy, **asked, epsilon=1)
    assert found.outcome.success > 0.7 > membership_in_rows(others, **asked).outcome.success
    assert found.outcome.allowed == pytest.approx(np.e / (1 + np.e))
    copied = copied_records(copy, members=members, outsiders=outsiders, columns=NAMES)
    assert copied.baseline < 0.2
    assert 0.5 < copied.success < 0.8
    assert copied_records(members, members=members, outsiders=outsiders, columns=NAMES).success == 1


def test_who_is_not_unique_is_no_record_that_was_copied():
    members, outsiders = {"a": [1, 1, 2, 3]}, {"a": [3, 4]}
    found = copied_records({"a": [1, 2, 3, 4]}, members=members, outsiders=outsiders, columns=["a"])
    assert (found.successes, found.trials, found.baseline) == (1, 1, 1)


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"groups": []}, "at least one group"),
        ({"groups": [["d"]]}, "column"),
        ({"groups": "ab"}, "groups"),
        ({"made": [1, 2]}, "table"),
        ({"false_positive_rate": 2}, "false_positive_rate"),
        ({"members": {name: [] for name in NAMES}}, "both True and False"),
    ],
)
def test_what_is_no_table_or_group_is_refused(changed, match):
    asked = {
        "made": people(9),
        "members": people(5),
        "outsiders": people(5),
        "reference": people(50),
        "groups": [NAMES],
    }
    with pytest.raises(ParameterError, match=match):
        membership_in_rows(**(asked | changed))


def test_nobody_unique_is_refused():
    same = {"a": [1, 1]}
    with pytest.raises(ParameterError, match="unique"):
        copied_records(same, members=same, outsiders={"a": [2]}, columns=["a"])
