from fractions import Fraction

import numpy as np

from sfumato.accounting.pld.law import Grid, Law


def test_a_grid_lists_its_losses():
    assert Grid(lowest=Fraction(1, 2), step=0.25, size=3).losses.tolist() == [0.5, 0.75, 1.0]


def test_a_law_has_a_loss_for_each_mass():
    law = Law(lowest=Fraction(-1), step=0.5, masses=np.array([0.2, 0.3, 0.5]), infinite_mass=0.0)
    assert law.losses.tolist() == [-1.0, -0.5, 0.0]
