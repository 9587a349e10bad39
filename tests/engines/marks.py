"""What an engine does not do: yet, or ever; the test is run all the same, and has to fail."""

from types import FunctionType

import pytest


def never(reason):
    """A test that no version of an engine will pass."""
    return _expected_to_fail(f"never: {reason}")


def not_yet(reason):
    """A test that an engine may pass one day."""
    return _expected_to_fail(f"not yet: {reason}")


def _expected_to_fail(reason):
    """Marks a copy of a test: other engines run the same one."""

    def marked(test):
        own = FunctionType(test.__code__, test.__globals__, test.__name__, test.__defaults__, test.__closure__)
        own.__dict__.update(test.__dict__)
        own.pytestmark = list(getattr(test, "pytestmark", []))
        return pytest.mark.xfail(strict=True, reason=reason)(own)

    return marked
