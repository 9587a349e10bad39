"""What tests of plans share."""

import pytest

from sfumato.query.planning import batch


@pytest.fixture
def always(monkeypatch):
    """Everything that can be a workload is one."""
    monkeypatch.setattr(batch, "WORTH", 10**9)
