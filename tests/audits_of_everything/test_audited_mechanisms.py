"""Every mechanism, audited on neighbors that are among the worst: a true claim is refuted once in a million audits."""

import pytest
from tests.audits_of_everything.judging import FULL_SIZE, judged
from tests.audits_of_everything.mechanisms import CASES, IN_TEST, KINDS, WITHOUT

from sfumato import mechanisms


@pytest.mark.statistical
@pytest.mark.parametrize("name", CASES if FULL_SIZE else IN_TEST)
def test_no_mechanism_tells_more_than_it_promises(name):
    judged(CASES[name]).assert_true()


def test_every_mechanism_that_is_exported_is_audited_or_it_is_said_why_not():
    audited = {kind.__name__ for kind in KINDS.values()}
    assert audited | set(WITHOUT) == set(mechanisms.__all__)
    assert audited.isdisjoint(WITHOUT)


def test_where_half_of_the_claim_is_not_refuted_it_is_said_why():
    assert all(case.share is not None or case.why for case in CASES.values())
