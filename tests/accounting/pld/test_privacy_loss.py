import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.pld.law import Law
from sfumato.accounting.pld.privacy_loss import PrivacyLoss
from sfumato.errors import ParameterError

LOSS = PrivacyLoss.of(Law(lowest=Fraction(-1), step=1.0, masses=np.array([0.2, 0.3, 0.4]), infinite_mass=0.1))


def test_its_numbers_are_those_of_the_definition():
    assert LOSS.losses.tolist() == [-1, 0, 1]
    assert LOSS.mean == pytest.approx(0.2)
    assert LOSS.tail(0) == pytest.approx(0.5)
    assert LOSS.delta(0) == pytest.approx(0.1 + 0.4 * (1 - math.exp(-1)))
    assert LOSS.delta(5) == LOSS.tail(5) == pytest.approx(0.1)


def test_epsilon_is_not_negative():
    with pytest.raises(ParameterError, match="epsilon"):
        LOSS.tail(-1)
