import pytest

from sfumato.query.model.names import fresh


@pytest.mark.parametrize(
    ("base", "taken", "name"),
    [
        ("n", [], "n"),
        ("n", ["N"], "n_2"),
        ("n", ["n", "n_2"], "n_3"),
        ("n", ["N_low"], "n_2"),
        ("n", ["n_high"], "n_2"),
        ("DAY", ["day", "Day_2"], "DAY_3"),
    ],
)
def test_a_fresh_name_leaves_room_for_the_ends_of_its_interval(base, taken, name):
    assert fresh(base, taken) == name
