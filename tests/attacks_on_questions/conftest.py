"""Every attack is made on every engine."""

import pytest


@pytest.fixture(params=["reference", "duckdb"])
def engine(request):
    """The name of an engine."""
    return request.param
