"""A question to a real Spark is audited: a true claim is refuted once in a million audits."""

import pytest
from tests.audits_of_everything.elsewhere import VIEWS, elsewhere, on_spark
from tests.audits_of_everything.judging import RUNS, judged
from tests.engines.spark_application import application
from tests.sizes import FULL_SIZE

from sfumato.query.policy.policy import Risk

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


@pytest.fixture(autouse=True)
def _dropped():
    """Other tests look at all views of the application."""
    yield
    for view in application().sql("SHOW VIEWS").collect():
        if view.viewName.startswith(VIEWS):
            application().catalog.dropTempView(view.viewName)


@pytest.mark.statistical
def test_no_question_to_spark_tells_more_than_it_is_charged():
    asked = elsewhere(
        on_spark, options={"spark": {"session": application()}}, accepted_risks=(Risk.FAILING_ROWS,)
    )  # fmt: skip # rows from Python
    judged(asked, runs=RUNS if FULL_SIZE else RUNS // 4).assert_true()
