"""Every way to an answer of a real session is audited: a true claim is refuted once in a million audits."""

import pytest
from tests.audits_of_everything.judging import FULL_SIZE, judged
from tests.audits_of_everything.paths import CASES, IN_TEST


@pytest.mark.essential
@pytest.mark.statistical
@pytest.mark.parametrize("name", CASES if FULL_SIZE else IN_TEST)
def test_no_path_to_an_answer_tells_more_than_it_is_charged(name):
    judged(CASES[name]).assert_true()
