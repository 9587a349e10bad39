import sfumato as sf
from examples import f10_baskets as example


def test_what_is_released_costs_what_is_stated():
    found, made, spent = example.released(sf.datasets.shop(300), epsilon=2)
    assert (len(found.itemsets), spent) == (20, "ε 4")
    assert len(made.items) == 120
