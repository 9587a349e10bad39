import pytest

from examples import e04_composition as example

HUNDRED = example.COUNTS.index(100)
PURE, LAPLACE, GAUSSIAN, SAMPLED = example.RELEASES.values()


# dp-accounting 0.6 and closed forms: ε of a hundred releases at δ = 1e-6
@pytest.mark.parametrize(
    ("event", "accountant", "epsilon"),
    [
        (PURE, "BasicAccountant", 10),
        (PURE, "AdvancedAccountant", 6.308),
        (PURE, "OptimalAccountant", 4.7746),
        (LAPLACE, "PLDAccountant", 4.6927),
        (GAUSSIAN, "GDPAccountant", 4.8866),
        (GAUSSIAN, "RDPAccountant", 5.2215),
        (SAMPLED, "PLDAccountant", 0.9542),
    ],
)
def test_a_hundred_releases_cost_what_each_theorem_says(event, accountant, epsilon):
    assert example.figures(event)[accountant][HUNDRED] == pytest.approx(epsilon, rel=1e-3)


@pytest.mark.parametrize("event", example.RELEASES.values(), ids=example.RELEASES)
def test_whoever_has_a_price_has_one_for_every_count_and_more_releases_cost_more(event):
    for costs in example.figures(event).values():
        known = [cost for cost in costs if cost is not None]
        assert len(known) in {0, len(example.COUNTS)}
        assert known == sorted(known)


def test_the_best_of_each_column_is_marked_and_who_has_no_price_is_left_out():
    shown = example.table(GAUSSIAN).splitlines()
    assert all("OptimalAccountant" not in line for line in shown)
    assert sum(line.count("*") for line in shown) >= len(example.COUNTS)
