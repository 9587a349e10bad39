"""The choice among oracles: the least variance, the shortest of those nearly as good, and the reason in numbers."""

import pytest

from sfumato.errors import ParameterError
from sfumato.local import Domain, best


def name_of(*arguments, **options):
    return type(best(*arguments, **options).oracle).__name__


@pytest.mark.parametrize(
    ("epsilon", "size", "expected"),
    [
        (1, 2, "DirectEncoding"),
        (3, 20, "DirectEncoding"),
        (1, 1024, "LocalHashing"),
        (4, 1024, "LocalHashing"),
        (1, 16, "SubsetSelection"),
        (8, 1024, "DirectEncoding"),
    ],
)
def test_the_choice_at_some_points(epsilon, size, expected):
    assert name_of(epsilon, size) == expected


def test_few_values_are_told_directly_as_the_rule_of_the_field_says():
    for epsilon in ("0.5", 1, 2, 3):
        for size in (2, 3, 100):
            chosen = best(epsilon, size)
            direct = next(one for one in chosen.compared if type(one.oracle).__name__ == "DirectEncoding")
            optimized = next(one for one in chosen.compared if type(one.oracle).__name__ == "OptimizedUnaryEncoding")
            assert (direct.variance < optimized.variance) == (size < 3 * 2.718281828 ** float(epsilon) + 2)


def test_short_reports_limit_the_choice():
    assert name_of(1, 1024, bytes=8) == "HadamardResponse"
    assert name_of(1, 1024, bytes=9) == "LocalHashing"
    with pytest.raises(ParameterError, match="at least 2"):
        best(1, 1024, bytes=1)


def test_what_is_compared_is_sorted_and_on_the_domain():
    domain = Domain(["tea", "coffee", "water"])
    found = best(1, domain)
    assert found.oracle.domain == domain
    variances = [one.variance for one in found.compared]
    assert variances == sorted(variances)
    assert len(found.compared) == 5
    assert type(found.oracle).__name__ in found.reason


def test_texts_are_hashed():
    assert name_of(1, Domain.texts()) == "LocalHashing"


@pytest.mark.parametrize("wrong", [{"epsilon": 0}, {"domain": 1}, {"bytes": 0}, {"bytes": 2.5}])
def test_wrong_arguments_are_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        best(**({"epsilon": 1, "domain": 10} | wrong))
