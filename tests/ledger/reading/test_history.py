"""History tells each charge once, and what became of it; accounts spend themselves or by those below."""

from dataclasses import replace

import pytest
from tests.ledger.stories import NOON, account, amounts, committed, held, release, reserved, rho, time, ward

from sfumato.ledger.core.entry import Abandoned, Closed, Rebudgeted, Recognized, Shared
from sfumato.ledger.reading.history import Standstills, activity, history, last_paid, time_text
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.guarantees import ApproxDP, PureDP

OPEN = (account("all", PureDP(4)), account("people", parents=("all",)), account("others", parents=("all",)))


def rows(*entries, **options):
    return history([*OPEN, *entries], **options)


def abandoned(request):
    return Abandoned(account="people", request=request, reason="failed")


def shared(reader="others", source="people", request="s"):
    return Shared(account=reader, source=source, request=request, **release("0.2"))


def test_each_charge_is_one_row_with_what_became_of_it():
    found = rows(
        *(reserved(name) for name in "abc"), committed("b"), abandoned("c"), shared(), committed("s", "others")
    )
    assert [row.state for row in found if row.charge] == ["reserved", "committed", "abandoned", "shared"]
    assert [row.kind for row in found if not row.charge] == ["opened"] * 3
    assert found[-1].note == "the answer of people"


def test_who_asked_what_for_how_much_is_told_with_twelve_digits_of_the_question():
    asked = replace(reserved(), question="0123456789abcdef", principal="ann", at=time("2024-11-21T12:00"))
    row = rows(asked)[-1]
    assert (row.principal, row.question, row.charge, row.at) == ("ann", "0123456789ab", PureDP("0.1"), asked.at)


def answer(asked):
    return {"receipt": {"question": asked}, "sections": []}


def test_a_question_is_told_in_words_as_soon_as_it_has_an_answer():
    found = rows(*(reserved(name) for name in "abc"), committed("b", answer=answer("SELECT 1")), abandoned("c"))
    assert [row.asked for row in found if row.charge] == ["", "SELECT 1", ""]


def test_what_another_account_asked_is_told_in_words_too():
    told = rows(
        reserved(), committed(answer=answer("SELECT 1")), shared(), committed("s", "others", answer=answer("SELECT 1"))
    )
    assert [(row.asked, row.state) for row in told[-2:]] == [("SELECT 1", "committed"), ("SELECT 1", "shared")]


@pytest.mark.parametrize("document", [7, [1], {}, {"receipt": 1}, {"receipt": {"question": 1}}])
def test_an_answer_that_says_nothing_of_its_question_is_no_error(document):
    assert rows(reserved(), committed(answer=document))[-1].asked == ""


def test_a_cost_is_told_in_the_measure_of_the_account_that_asked():
    told = [account(budget=ZCDP(1)), replace(reserved(), prices=rho("people", "0.25"))]
    row = history(told)[-1]
    assert (str(row.cost), row.charge) == ("ρ 0.25", PureDP("0.1"))
    assert rows(reserved())[-1].cost == PureDP("0.1")


def test_after_another_budget_costs_are_told_in_its_words():
    told = rows(
        Rebudgeted(account="people", budget=ApproxDP(1, "1e-6"), reason="r"), reserved(**release("0.1", "1e-7"))
    )
    assert str(told[-1].cost) == "ε 0.1, δ 1e-07"


def test_of_many_questions_only_those_are_kept_that_are_told():
    found = rows(*(entry for name in "abcd" for entry in (reserved(name), committed(name))), limit=1)
    assert [row.state for row in found] == ["committed"]


# Where time stood still


def stood_still(*entries):
    found = Standstills()
    for entry in entries:
        found.take(entry)
    return [(one.at, one.answers) for one in found.found]


def test_answers_that_are_as_old_as_their_questions_tell_where_time_stood_still():
    told = [replace(reserved(name), at=NOON) for name in "abc"]
    ends = (replace(committed("a"), at=NOON), replace(abandoned("b"), at=NOON), replace(committed("c"), at=NOON + 1))
    assert stood_still(*told, *ends) == [(NOON, 2)]


def test_where_no_time_was_told_none_stood_still():
    assert stood_still(reserved(), committed()) == []


def test_a_shared_answer_is_given_in_the_same_turn():
    assert stood_still(replace(shared(), at=NOON), replace(committed("s", "others"), at=NOON)) == []


def test_what_the_owner_did_is_told_with_the_reason():
    found = rows(
        Rebudgeted(account="people", budget=PureDP(2), reason="more"), Closed(account="people", reason="over"),
        Recognized(account="people", fingerprints=("secret",)),
        held("people", "secret", unit="pid (text)", table="visits"),
    )[-4:]  # fmt: skip
    assert [(row.kind, row.note) for row in found] == [
        ("rebudgeted", "ε 2: more"), ("closed", "over"), ("recognized", ""), ("protected", "visits: pid (text)"),
    ]  # fmt: skip


def test_an_account_is_told_with_those_below_it():
    told = [reserved("a", "people"), reserved("b", "others"), reserved("c", "all")]
    assert [row.account for row in rows(*told, account="people")] == ["people", "people"]
    assert len(rows(*told, account="all")) == 6


def test_a_limit_keeps_the_last_rows_and_still_knows_what_became_of_them():
    found = rows(*(reserved(name) for name in "abc"), committed("c"), limit=2)
    assert [row.state for row in found] == ["reserved", "committed"]


def test_a_time_that_an_old_ledger_did_not_tell_is_empty():
    assert time_text(0) == ""
    assert time_text(time("2024-02-29T23:59:59")) == "2024-02-29T23:59:59Z"


def test_what_an_account_spent_itself_is_not_what_those_below_spent():
    found = activity([*OPEN, reserved("a", "people"), reserved("b", "all", "0.3"), shared("others", "people")])
    assert {name: (str(one.spent), one.charges) for name, one in found.items()} == {
        "all": ("ε 0.3", 1), "people": ("ε 0.1", 1), "others": ("ε 0.2", 1),
    }  # fmt: skip


def test_parts_of_a_partition_are_added_up_as_people_are():
    told = [replace(reserved(name), part=ward(name)) for name in "abc"]
    assert str(activity([*OPEN, *told])["people"].spent) == "ε 0.1"


def test_in_rho_what_was_paid_counts_and_not_the_charge():
    told = [account(budget=ZCDP(1)), replace(reserved(), prices=rho("people", "0.25"))]
    assert activity(told)["people"].own.total() == amounts(delta=0, rho="0.25")


@pytest.mark.parametrize("name", ["people", "all"])
def test_the_last_question_is_that_of_an_account_or_of_one_below(name):
    paths = {"all": ("all",), "people": ("people", "all"), "others": ("others", "all")}
    found = last_paid([reserved("a"), reserved("b", epsilon="0.3"), committed("b")], paths)
    assert found[name].request == "b"
    assert "others" not in found
