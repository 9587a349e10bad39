"""Fits are planned by another process: whatever becomes of that one, a gateway answers, and starts it again."""

import json
import sys
from dataclasses import replace

import pytest
from tests.learn.ordering.ordered import CASES, declared

from sfumato.errors import ParameterError
from sfumato.learn.ordering.orders import order_of
from sfumato.learn.ordering.planning import planned_fit
from sfumato.server.gateway import planners
from sfumato.server.gateway.planners import Planner
from sfumato.session.wire.fits import encode_fit

ROWS = declared("GaussianNB")
ORDER = order_of(CASES["GaussianNB"][0])
FIT = planned_fit(ORDER, ROWS)

SCRIPT = """
import json, sys, time
print("{}", flush=True)
for line in sys.stdin:
    estimator = json.loads(line)[0]
    if estimator == "slow":
        time.sleep(60)
    if estimator == "dies":
        break
    print({"odd": "[1]", "wrong": '{"fit": "x"}'}.get(estimator, sys.argv[1]), flush=True)
"""


def planner(answer, **options):
    return Planner(command=(sys.executable, "-c", SCRIPT, json.dumps(answer)), **options)


@pytest.fixture
def good():
    """A planner that plans one fit, whatever is asked."""
    opened = planner({"fit": encode_fit(FIT)}, seconds=1.0)
    yield opened
    opened.close()


def test_a_fit_is_planned_and_one_process_plans_many(good):
    assert good.plan(ORDER, ROWS) == FIT
    first = good._process.pid
    assert good.plan(ORDER, ROWS) == FIT
    assert good._process.pid == first


@pytest.mark.parametrize("estimator", ["dies", "wrong", "odd", "slow"])
def test_what_ends_or_holds_up_the_process_is_refused_and_the_next_fit_is_planned(good, estimator):
    with pytest.raises(ParameterError, match="smaller model"):
        good.plan(replace(ORDER, estimator=estimator), ROWS)
    assert good._process is None
    assert good.plan(ORDER, ROWS) == FIT


def test_a_plan_of_another_order_is_refused(good):
    with pytest.raises(ParameterError, match="another order"):
        good.plan(replace(ORDER, arguments='{"epsilon":9}'), ROWS)


def test_a_process_that_does_not_start_is_an_error():
    with pytest.raises(ParameterError):
        Planner(command=(sys.executable, "-c", "")).plan(ORDER, ROWS)


def test_what_is_wrong_with_an_order_is_told():
    opened = planner({"name": "epsilon", "value": "0", "requirement": "must be more"})
    with pytest.raises(ParameterError, match="epsilon = '0': must be more"):
        opened.plan(ORDER, ROWS)
    opened.close()
    opened.close()


def test_without_models_installed_nothing_is_planned(monkeypatch):
    monkeypatch.setattr(planners, "find_spec", lambda _: None)
    with pytest.raises(ParameterError, match="extra `learn`"):
        Planner().plan(ORDER, ROWS)
