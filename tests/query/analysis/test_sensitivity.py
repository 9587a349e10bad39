from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest

from sfumato.query.analysis.sensitivity import Sensitivity


def test_a_sensitivity_is_a_value():
    one = Sensitivity(l1=3, l2=Fraction(2), l0=1)
    assert one == Sensitivity(l1=3, l2=Fraction(2), l0=1)
    assert len({one, Sensitivity(l1=3, l2=Fraction(2), l0=2)}) == 2
    with pytest.raises(FrozenInstanceError):
        one.l1 = 0
