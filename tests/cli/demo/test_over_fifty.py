import pytest
from tests.cli.demo.telling import row

from sfumato.cli.demo import over_fifty


def test_both_answers_stand_beside_the_true_one(stage, people, curators):
    over_fifty.show(stage, people, curators.people)
    assert row(stage, "0.1")[1:2] + row(stage, "0.1")[3:] == ["6,460", "ε 0.1"]
    assert row(stage, "0.001")[1:2] + row(stage, "0.001")[3:] == ["6,460", "ε 0.001"]


@pytest.mark.parametrize(("epsilon", "error"), [("0.1", "± 30"), ("0.001", "± 2,996")])
def test_the_error_bar_is_that_of_its_epsilon(stage, people, curators, epsilon, error):
    over_fifty.show(stage, people, curators.people)
    assert row(stage, epsilon)[2].removesuffix(" ≲ noise").endswith(error)


def test_the_first_answer_comes_back_for_its_receipt(stage, people, curators):
    release = over_fifty.show(stage, people, curators.people)
    assert str(release.receipt.guarantee) == "ε 0.1"
    assert abs(release["n"][0].value - 6_460) < 400  # 40 scales: e^-40
