"""What a training is to cost, turned into a plan: the noise is what the price needs, and wrong input is named."""

import dp_accounting
import pyarrow as pa
import pytest
import torch
from dp_accounting import pld
from tests.learn.torch.training.small import network, planned, rows
from torch import nn

import sfumato as sf
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn.torch.training.clipping import AdaptiveClip
from sfumato.learn.torch.training.examples import Examples
from sfumato.learn.torch.training.private import _block, private
from sfumato.privacy.events import GroupEvent, TruncatedPoissonSampledEvent
from sfumato.query.model.schema import Limits


def oracle(multiplier, probability, steps):
    once = dp_accounting.PoissonSampledDpEvent(probability, dp_accounting.GaussianDpEvent(multiplier))
    accountant = pld.PLDAccountant(value_discretization_interval=1e-3)
    return accountant.compose(dp_accounting.SelfComposedDpEvent(once, steps)).get_epsilon(1e-5)


@pytest.mark.parametrize("epsilon", [1, 8])
def test_the_noise_is_what_another_accountant_says_that_the_price_needs(epsilon):
    plan = planned(epsilon=epsilon, epochs=20)
    assert plan.steps == 120
    assert oracle(plan.noise_multiplier, 1 / 6, 120) == pytest.approx(epsilon, rel=0.01)
    assert PLDAccountant().compose(plan.event).epsilon("1e-5") <= epsilon


def test_where_units_are_exchanged_there_is_more_noise():
    inputs, targets = rows()
    one = planned((inputs, targets))
    other = planned(Examples(inputs, targets, neighboring_relation="replace_one"))
    accountant = PLDAccountant(neighboring_relation="replace_one")
    assert accountant.compose(other.event).epsilon("1e-5") <= 3
    assert other.noise_multiplier > one.noise_multiplier * 1.2


def test_a_largest_batch_is_priced_and_kept():
    inputs, targets = rows()
    data = Examples(inputs, targets, neighboring_relation="replace_one")
    plain, cut = planned(data), planned(data, largest_batch=10)
    accountant = PLDAccountant(neighboring_relation="replace_one")
    assert isinstance(cut.event.event, TruncatedPoissonSampledEvent)
    assert 2.9 < accountant.compose(cut.event).epsilon("1e-5") <= 3
    assert cut.noise_multiplier > plain.noise_multiplier
    batches = cut.noise.participation.start(len(inputs))
    assert max(len(batches.draw(step)) for step in range(50)) == 10
    assert cut.train(progress=False).updates == cut.steps


@pytest.mark.parametrize(("named", "changed"), [
    ("largest_batch", {"largest_batch": 0}), ("largest_batch", {"largest_batch": 9}),
    ("largest_batch", {"largest_batch": 60}), ("rows", {"largest_batch": 20, "rows": 59}),
    ("largest_batch", {"largest_batch": 20, "noise": "buffered"}),
], ids=range(5))  # fmt: skip
def test_a_largest_batch_that_cannot_be_priced_is_refused(named, changed):
    inputs, targets = rows()
    with pytest.raises(ParameterError) as error:
        planned(Examples(inputs, targets, neighboring_relation="replace_one"), **changed)
    assert error.value.name == named


def test_a_largest_batch_needs_a_number_of_units_that_is_no_secret():
    for data in (Examples(*rows()), visits().training_set("SELECT age, ill FROM visits", target="ill")):
        with pytest.raises(ParameterError, match="is a secret"):
            planned(data, model=network(width=1 if not isinstance(data, Examples) else 6), largest_batch=20)


def test_a_clip_that_follows_a_quantile_is_paid_from_the_same_budget():
    plain, counted = planned(), planned(adaptive_clip=AdaptiveClip(stddev=2))
    assert counted.noise_multiplier > plain.noise_multiplier
    assert PLDAccountant().compose(counted.event).epsilon("1e-5") <= 3


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
@pytest.mark.parametrize("noise", ["banded", "buffered"])
def test_correlated_noise_costs_what_was_asked_and_adds_up_to_less(noise, relation):
    inputs, targets = rows(4)
    data = Examples(inputs, targets, neighboring_relation=relation)
    given = {"epsilon": 8, "epochs": 10, "batch_size": 60, "rows": 1200}
    alone, correlated = planned(data, **given), planned(data, noise=noise, **given)
    accountant = PLDAccountant(neighboring_relation=relation)
    assert 7.9 < accountant.compose(correlated.event).epsilon("1e-5") <= 8
    if relation == "add_or_remove_one":
        assert correlated.noise.total_stddev_steps < 0.8 * alone.noise.total_stddev_steps


def visits(**changed):
    """Rows of a query, three of each unit at most."""
    table = pa.table({"person": [1, 1, 2, 3, 3, 3], "age": [30, 31, 50, 7, 8, 9], "ill": ["no", "yes"] * 3})
    given = {
        "name": "visits", "unit": "person", "limits": Limits(max_rows_per_unit=3), "budget": sf.ApproxDP(4, "1e-4"),
        "columns": {"age": sf.integer(0, 100), "ill": sf.text(values=["no", "yes"])},
    }  # fmt: skip
    return sf.open(table, **(given | changed))


def of_visits(session, **changed):
    rows = session.training_set("SELECT age, ill FROM visits", target="ill")
    return planned(rows, model=network(width=1), **changed)


def test_rows_of_a_unit_of_a_query_are_priced_as_a_group():
    plan = of_visits(visits())
    assert isinstance(plan.event, GroupEvent)
    assert plan.event.size == 3
    assert PLDAccountant().compose(plan.event).epsilon("1e-5") <= 3
    assert plan.noise_multiplier > planned().noise_multiplier * 1.5


def test_rows_of_a_unit_of_a_query_take_no_turns_in_groups():
    """They would have several phases, so that samples of one are no samples of the others."""
    with pytest.raises(ParameterError, match="rows of one unit"):
        of_visits(visits(), noise="banded", bands=2)
    plan = of_visits(visits(), noise="buffered")
    assert plan.event.size == 3
    alone = visits(limits=Limits(max_rows_per_unit=1))
    assert not isinstance(of_visits(alone, noise="banded", bands=2).event, GroupEvent)


def test_a_training_through_a_session_is_charged_and_an_equal_one_is_stored():
    session = visits()
    first = of_visits(session).train(progress=False)
    assert (str(session.spent), first.receipt.guarantee) == ("ε 3, δ 1e-05", first.guarantee)
    again = of_visits(session).train(progress=False)
    assert str(session.spent) == "ε 3, δ 1e-05"
    for one, other in zip(first.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, other)
    with pytest.raises(BudgetExceededError):
        of_visits(session, epsilon=2).train(progress=False)


def test_a_target_of_numbers_is_in_its_own_unit():
    session = visits()
    rows = session.training_set("SELECT age, ill FROM visits", target="age")
    model = nn.Linear(2, 1)
    plan = private(
        model, torch.optim.SGD(model.parameters(), lr=0.1), nn.MSELoss(), rows,
        epsilon=1, delta="1e-5", epochs=1, batch_size=3, rows=6,
    )  # fmt: skip
    assert plan.train(progress=False).updates == 2


WRONG = [
    ("epsilon", {"epsilon": 0}), ("delta", {"delta": 0}), ("epochs", {"epochs": 0}), ("batch_size", {"batch_size": 61}),
    ("rows", {"rows": -1}), ("clip", {"clip": 0}), ("clip", {"clip": 2**21}), ("mode", {"mode": "fast"}),
    ("noise", {"noise": "pink"}), ("bands", {"noise": "banded", "bands": 7}),
    ("adaptive_clip", {"noise": "banded", "adaptive_clip": AdaptiveClip(stddev=9)}), ("block", {"block": 0}),
    ("data", {"data": [1, 2]}),
    ("model", {"model": nn.Sequential(nn.Linear(6, 2), nn.BatchNorm1d(2))}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("named", "changed"), WRONG, ids=[f"{named} {place}" for place, (named, _) in enumerate(WRONG)]
)
def test_what_cannot_be_used_is_named_before_anything_is_read(named, changed):
    with pytest.raises(ParameterError) as error:
        planned(**changed)
    assert named in error.value.name


def test_a_rule_that_leaves_nothing_for_gradients_is_refused():
    with pytest.raises(ParameterError, match="larger stddev"):
        planned(epsilon="0.5", adaptive_clip=AdaptiveClip(stddev="0.5"))


@pytest.mark.parametrize(("batch", "width", "mode", "expected"), [
    (10, 6, "per example", 16), (60, 6, "ghost", 64), (5000, 6, "per example", 256), (5000, 20_000, "per example", 64),
    (5000, 20_000, "ghost", 256),
])  # fmt: skip
def test_a_block_is_about_a_batch_and_not_too_large(batch, width, mode, expected):
    assert _block(batch, network(width=width), mode) == expected


def test_nothing_is_read_off_the_data():
    inputs, targets = rows(count=60)
    whole = planned((inputs, targets))
    for fewer in (0, 1, 59):
        assert planned((inputs[:fewer], targets[:fewer])).document() == whole.document()
