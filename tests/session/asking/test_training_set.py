"""Training sets: a fit is charged before rows are read, stored once, and fails as a query does."""

from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from tests.session.opened import CANARY, opened, recorded

import sfumato as sf
from sfumato.errors import BudgetExceededError, EngineError, FailedOnRowsError, ParameterError, UnavailableError
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP, guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.session.asking.training_set import TrainingSet

ROWS = "SELECT age, sex FROM people"


@dataclass
class Counted:
    """A fit that tells how often it saw rows; no mechanism: for these tests alone."""

    price: str = "0.25"
    parameter: int = 1
    name: str = "counted"
    seen: list = field(default_factory=list)
    error: Exception | None = None

    @property
    def event(self):
        return PureEvent("0.25")

    @property
    def charge(self):
        return guarantee(self.price, 0)

    def document(self):
        return {"parameter": self.parameter}

    def release(self, rows):
        self.seen.append(rows.open_for_noise().codes.shape)
        if self.error is not None:
            raise self.error
        return {"weights": [1.5], "name": "ä"}


def test_a_fit_is_charged_once_and_stored():
    people, fit = opened(), Counted()
    rows = people.training_set(ROWS, target="sex")
    first = rows.fit(fit)
    assert (first.model, first.reused, people.spent) == ({"weights": [1.5], "name": "ä"}, False, PureDP("0.25"))
    assert first.receipt.question == f"counted of: {ROWS}"
    again = people.training_set(people.table().filter(people.table().age >= 0).select("age", "sex"), target="sex")
    assert (rows.fit(fit).reused, people.spent, len(fit.seen)) == (True, PureDP("0.25"), 1)
    assert isinstance(again, TrainingSet)


@pytest.mark.parametrize(
    "other",
    [
        lambda people: people.training_set(ROWS, target="sex").fit(Counted(parameter=2)),
        lambda people: people.training_set(ROWS, target="sex").fit(Counted(name="other")),
        lambda people: people.training_set(ROWS, target="sex").fit(Counted(price="0.5")),
        lambda people: people.training_set(ROWS, target="sex", classes=["m", "f"]).fit(Counted()),
        lambda people: people.training_set("SELECT age, sex FROM people WHERE age > 3", target="sex").fit(Counted()),
        lambda people: people.training_set("SELECT sex, pay, age FROM people", target="sex").fit(Counted()),
    ],
)
def test_what_differs_is_another_fit(other):
    people = opened(budget=sf.PureDP(2))
    people.training_set(ROWS, target="sex").fit(Counted())
    assert not other(people).reused


def test_without_budget_no_row_is_read():
    people, fit = opened(budget=sf.PureDP("0.2")), Counted()
    with pytest.raises(BudgetExceededError):
        people.training_set(ROWS).fit(fit)
    assert (fit.seen, people.spent) == ([], PureDP(0))


def test_a_charge_below_the_event_is_refused_before_rows_are_read():
    people, fit = opened(), Counted(price="0.1")
    with pytest.raises(ParameterError, match="must cover the event"):
        people.training_set(ROWS).fit(fit)
    assert (fit.seen, people.spent) == ([], PureDP(0))


def test_a_fit_that_fails_on_rows_suspends_the_account_and_stays_charged():
    people = opened()
    with pytest.raises(UnavailableError):
        people.training_set(ROWS).fit(Counted(error=ValueError("a value of a row")))
    assert people.spent == PureDP("0.25")
    with pytest.raises(UnavailableError):
        people.sql("SELECT COUNT(*) AS n FROM people", epsilon="0.1")


def test_a_source_that_fails_on_rows_suspends_the_account_and_one_that_is_away_does_not(monkeypatch):
    for error, raised in (
        (FailedOnRowsError("e", "read", "Cast"), UnavailableError),
        (EngineError("e", "up"), EngineError),
    ):
        people, engine = recorded(opened())

        def fails(_statement, *, error=error, **_):
            raise error

        monkeypatch.setattr(engine, "run", fails)
        fit = Counted()
        with pytest.raises(raised):
            people.training_set(ROWS).fit(fit)
        assert (fit.seen, people.spent) == ([], PureDP("0.25"))
        assert people.desk.ledger.is_suspended(people.account_name) is (raised is UnavailableError)


def test_each_fit_samples_rows_by_a_salt_of_its_own():
    people, engine = recorded(opened())
    for parameter in range(3):
        people.training_set(ROWS).fit(Counted(parameter=parameter))
    assert len(set(engine.salts)) == 3


def test_a_part_of_a_partition_is_charged_alone():
    people, fit = opened(), Counted()
    with people.partition("people", by="sex", values=["f", "m"], max_parts_per_unit=1) as parts:
        for part in parts.values():
            part.training_set("SELECT age FROM people").fit(fit)
    assert (people.spent, fit.seen) == (PureDP("0.25"), [(1, 1), (2, 1)])


def test_an_account_below_is_charged_with_those_above():
    people = opened()
    people.open_account("ann", budget=sf.PureDP("0.3")).training_set(ROWS).fit(Counted())
    assert people.spent == PureDP("0.25")


def test_an_idempotency_key_finds_the_same_model():
    people, fit = opened(), Counted()
    rows = people.training_set(ROWS)
    models = [rows.fit(fit, idempotency_key="one") for _ in range(2)]
    assert models[0] == models[1]
    assert len(fit.seen) == 1


def test_it_says_what_is_public_and_shows_no_source():
    people = opened(neighboring_relation=REPLACE_ONE)
    rows = people.training_set(people.table().select("age", "sex"), target="sex")
    assert (rows.rows_per_unit, rows.neighboring_relation, rows.target.values) == (1, REPLACE_ONE, ("f", "m"))
    assert repr(rows) == "<TrainingSet: rows of age, sex>"
    assert opened().training_set(ROWS).neighboring_relation is ADD_OR_REMOVE_ONE


def test_rows_of_anybody_are_encoded():
    rows = opened().training_set(ROWS, target="sex")
    assert rows.encode({"age": [5, 200, None]}).tolist() == [[5], [100], [-1]]
    assert rows.encode(pa.table({"age": [5.0]}).to_pydict()).tolist() == [[5]]
    with pytest.raises(ParameterError, match="age"):
        rows.encode({"sex": ["f"]})


def test_what_is_no_query_is_refused():
    with pytest.raises(ParameterError, match="a SELECT of rows, or a frame"):
        opened().training_set(3)


def test_answers_of_queries_and_models_stand_beside_each_other():
    people = opened(budget=sf.PureDP(2))
    people.training_set(ROWS).fit(Counted())
    count = people.query("SELECT COUNT(*) AS n FROM people WHERE sex IN ('f', 'm')")
    people.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon="0.5")
    assert len(count.from_releases()) == 1


@dataclass
class Tallied(Counted):
    """The same of marginals, of which it asks for those that follow from the first."""

    def release(self, rows):
        first = rows.counts(["sex"]).open_for_noise()
        self.seen.append((first.tolist(), rows.counts(["age", "sex"]).open_for_noise().sum()))
        if self.error is not None:
            raise self.error
        return {"counts": 2}


def test_marginals_are_counted_once_they_are_charged_and_what_is_made_of_them_is_stored():
    people, fit = opened(), Tallied()
    marginals = people.marginals(ROWS, bins={"age": 10})
    assert [(one.name, one.size) for one in marginals.attributes] == [("age", 11), ("sex", 3)]
    assert (marginals.rows_per_unit, marginals.sensitivity(["age", "sex"]).l2) == (1, 1)
    assert (fit.seen, people.spent, CANARY in repr(marginals)) == ([], PureDP(0), False)
    first = marginals.fit(fit)
    assert (first.model, people.spent, fit.seen) == ({"counts": 2}, PureDP("0.25"), [([1, 2, 1], 4)])
    assert marginals.fit(fit).reused
    assert not people.marginals(ROWS, bins={"age": 20}).fit(fit).reused
    frame = people.table().select("age", "sex")
    assert people.marginals(frame, bins={"age": 10}).fit(fit).reused


def test_marginals_are_charged_as_rows_are_and_fail_as_they_do():
    people = opened(budget=sf.PureDP("0.2"))
    with pytest.raises(BudgetExceededError):
        people.marginals(ROWS).fit(Tallied())
    people = opened()
    with pytest.raises(ParameterError, match="must cover the event"):
        people.marginals(ROWS).fit(Tallied(price="0.1"))
    with pytest.raises(UnavailableError):
        people.marginals(ROWS).fit(Tallied(error=ValueError("a value of a row")))
    assert people.spent == PureDP("0.25")
