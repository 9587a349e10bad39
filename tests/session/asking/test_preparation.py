from sfumato.query.policy.claims import AtMost, HasOwner
from sfumato.session.asking.preparation import Preparation

PREPARATION = Preparation(
    violations={"wards": {AtMost(("code",), 1): 1}, "stays": {HasOwner("who"): 1234}, "beds": {}}
)  # fmt: skip


def test_numbers_are_shown_only_when_they_are_printed():
    assert "1,234" not in repr(PREPARATION)
    assert "1234" not in repr(PREPARATION)
    assert str(PREPARATION).splitlines() == [
        "Exact numbers of private rows, for the owner alone: show them to nobody else.",
        "",
        "wards:",
        "  at most one row for each code: 1 row does not hold to it",
        "",
        "stays:",
        "  each row has an owner: who: 1,234 rows do not hold to it",
        "",
        "beds: nothing is claimed",
    ]


def test_a_preparation_is_not_changed_from_outside():
    claims = {HasOwner("who"): 3}
    preparation = Preparation(violations={"stays": claims})
    claims.clear()
    assert preparation.violations == {"stays": {HasOwner("who"): 3}}
