"""Noisy labels: their exact distribution, the price of all checks and labels, what leaves, and the owner's ε."""

from fractions import Fraction
from itertools import permutations, product
from math import exp

import numpy as np
import pytest
from scipy.stats import chisquare
from tests.learn.made import neighbors
from tests.learn.teachers.test_votes import Nearest, rows_of, teachers

from sfumato.audit import audit
from sfumato.errors import ParameterError
from sfumato.learn.teachers.labels import LabelFit, label_divergences, owners_epsilon
from sfumato.learn.teachers.votes import Teachers
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.numeric.distributions import discrete_gaussian_log_pmf
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

NONE = -1
ORDERS = np.array([1.5, 2.0, 4.0, 8.0, 16.0])


def fit_of(rows, *, count=3, classes=2, answers=None, moved=1, threshold=2, charge=None, share="1/10", model=None):
    public = np.arange(rows, dtype=np.int32).reshape(-1, 1) % 3
    return LabelFit(
        teachers=teachers(model, count=count, classes=classes, public=public), moved_teachers=moved,
        threshold=threshold, answers=rows if answers is None else answers, check_share=Fraction(share),
        charge=charge or ApproxDP(2, "1e-3"),
    )  # fmt: skip


def answered(fit, votes):
    """The label of each public row, or `NONE`."""
    released = fit.labels(Secret(np.array(votes, dtype=np.int64)))
    found = np.full(len(votes), NONE)
    found[released["places"]] = released["labels"]
    return found


def masses(stddev, *, span=60):
    found = np.exp(discrete_gaussian_log_pmf(Fraction(stddev), np.arange(-span, span + 1)))
    return found / found.sum()


def law(fit, votes):
    """The exact probability of no label and of each label, for one public row; the first of equal counts wins."""
    noise, span = masses(fit.count.stddev), 60
    passed = masses(fit.check.stddev)[np.arange(-span, span + 1) + max(votes) >= fit.threshold].sum()
    values = np.arange(-span - 5, span + max(votes) + 6)
    padded = {}
    for place, count in enumerate(votes):
        density = np.zeros(len(values))
        density[count + 5 : count + 5 + len(noise)] = noise
        padded[place] = density, np.cumsum(density)
    wins = []
    for place in range(len(votes)):
        product_ = padded[place][0].copy()
        for other in range(len(votes)):
            if other != place:
                below = padded[other][1]
                product_ *= below if other > place else np.concatenate([[0], below[:-1]])
        wins.append(product_.sum())
    return np.array([1 - passed, *(passed * np.array(wins))])


@pytest.mark.statistical
@pytest.mark.parametrize("votes", [(3, 1, 0), (1, 2, 2)])
def test_labels_have_their_exact_distribution(votes):
    """One release of 4,000 public rows with equal votes; and noise that is a half or twice as wide is told apart."""
    rows = 4000
    fit = fit_of(rows, classes=3, charge=ApproxDP(2000, "1e-3"), share="1/2")
    assert 0.5 < fit.count.stddev < 8
    found = np.bincount(answered(fit, [votes] * rows) + 1, minlength=4)
    expected = law(fit, votes) * rows
    assert abs(expected.sum() - rows) < 1e-6
    assert chisquare(found, expected).pvalue > 1e-7
    for factor in (2, Fraction(1, 2)):
        for name in ("count", "check"):
            noise = getattr(fit, name)
            other = fit_of(rows, classes=3, charge=fit.charge, share="1/2")
            object.__setattr__(other, name, GaussianNoise(l2_sensitivity=1, stddev=noise.stddev * factor))
            if max(np.abs(law(other, votes) - law(fit, votes))) > 0.05:
                assert chisquare(found, law(other, votes) * rows).pvalue < 1e-7


def voted(choices, classes=2):
    """Counts of one public row, where each teacher votes for a class or for none."""
    return tuple(sum(choice == place for choice in choices) for place in range(classes))


def test_no_neighbor_has_more_than_delta_beyond_epsilon():
    """All votes of two teachers on two public rows, of which one votes otherwise on both, or on one, or not at all."""
    fit = fit_of(2, count=2, charge=ApproxDP("0.5", "1e-2"))
    choices = (NONE, 0, 1)
    laws = {votes: law(fit, votes) for votes in {voted(pair) for pair in product(choices, repeat=2)}}
    worst = 0.0
    for others in product(choices, repeat=2):
        for first, second in product(product(choices, repeat=2), repeat=2):
            one, two = (
                np.multiply.outer(*(laws[voted((other, own))] for other, own in zip(others, votes, strict=True)))
                for votes in (first, second)
            )
            worst = max(worst, np.maximum(one - exp(0.5) * two, 0).sum())
    assert worst <= 1e-2
    easier = max(np.maximum(law(fit, (2, 0)) - other * law(fit, (1, 1)), 0).sum() for other in (1, exp(0.05)))
    assert easier > 1e-3  # the test sees that votes matter


def mixture(fit, records, known):
    """The exact probability of no label and of each label over all draws of two parts, for one public row."""
    total = 0
    for draw in product((0, 1), repeat=len(records)):
        chosen = []
        for part in (0, 1):
            rows = tuple(sorted(record for record, own in zip(records, draw, strict=True) if own == part))
            if rows not in known:
                table = np.array(rows, dtype=np.int32).reshape(-1, 2)
                known[rows] = fit.teachers.vote(table[:, :1], table[:, 1])[0]
            chosen.append(known[rows])
        votes = voted(chosen)
        if votes not in known:
            known[votes] = law(fit, votes)
        total = total + known[votes] / 2 ** len(records)
    return total


def test_no_row_more_or_replaced_has_more_than_delta_beyond_epsilon_over_all_draws():
    """All pairs of tables of up to three rows, from rows to labels."""
    fit, known = fit_of(1, count=2, charge=ApproxDP("0.5", "1e-2")), {}
    worst = 0.0
    for pairs in neighbors(list(product((0, 2), (0, 1))), most=2):
        for first, second in pairs:
            one, two = mixture(fit, first, known), mixture(fit, second, known)
            both = (one - exp(0.5) * two, two - exp(0.5) * one)
            worst = max(worst, *(np.maximum(apart, 0).sum() for apart in both))
    assert worst <= 1e-2


@pytest.mark.parametrize("moved", [1, 2, 5])
@pytest.mark.parametrize(("answers", "classes"), [(4, 2), (3, 2), (1, 4)])
def test_stated_sensitivities_are_those_of_votes_that_move(moved, answers, classes):
    """The farthest that some teachers move all counts, found over their votes before and after."""
    rows, choices = 4, [NONE, *range(classes)]
    fit = fit_of(rows, count=9, answers=answers, moved=moved, classes=classes)
    changes = [np.subtract(voted([b], classes), voted([a], classes)) for a, b in product(choices, repeat=2)]
    together = [sum(some) for some in product(changes, repeat=min(moved, 2))]
    if moved > 2:
        together = [one * moved for one in changes]
    check, label = fit.parts
    assert check.l2_sensitivity**2 >= rows * moved**2 * (1 - 1e-9)
    assert check.l0_sensitivity == rows
    assert label.l2_sensitivity**2 >= answers * max(int((one**2).sum()) for one in together)
    assert label.l1_sensitivity >= answers * max(int(np.abs(one).sum()) for one in together)
    assert label.l0_sensitivity >= answers * max(int((one != 0).sum()) for one in together)
    assert label.l2_sensitivity**2 < answers * 2 * moved**2 * (1 + 1e-9)
    assert fit.count.l2_sensitivity == label.l2_sensitivity
    assert fit.check.l2_sensitivity == check.l2_sensitivity


def test_all_checks_and_all_labels_are_charged_whatever_the_votes_are():
    fit = fit_of(50, answers=20, charge=ApproxDP(1, "1e-6"))
    for relation in (ADD_OR_REMOVE_ONE, REPLACE_ONE):
        require_price(fit.event, fit.charge, relation)
    with pytest.raises(ParameterError):
        require_price(fit.event, ApproxDP("0.9", "1e-6"), ADD_OR_REMOVE_ONE)
    check, label = fit.event.events
    assert (check.l0_sensitivity, label.l0_sensitivity) == (50, 40)
    assert abs(check.l2_sensitivity**2 - 50) < 1e-9
    assert abs(label.l2_sensitivity**2 - 40) < 1e-9
    more = fit_of(50, answers=50, charge=ApproxDP(1, "1e-6"))
    assert more.count.stddev > fit.count.stddev
    assert fit_of(99, answers=20, charge=ApproxDP(1, "1e-6")).check.stddev > fit.check.stddev


def test_only_noisy_labels_of_the_first_rows_that_pass_leave(monkeypatch):
    monkeypatch.setattr(GaussianNoise, "release", lambda _, values: np.asarray(values))
    fit = fit_of(5, answers=2, threshold=3, count=4)
    votes = np.array([[2, 2], [1, 3], [0, 0], [4, 0], [0, 4]])
    assert fit.labels(Secret(votes)) == {"places": [1, 3], "labels": [1, 0]}
    assert fit_of(5, threshold=5, count=5).labels(Secret(votes)) == {"places": [], "labels": []}
    monkeypatch.setattr(GaussianNoise, "release", lambda _, values: np.zeros(len(values)))
    models = [fit_of(5, threshold=0, model=Nearest()).release(Secret(rows_of(units)))
              for units in ([], [[(0, 1)]], [[(2, 1)], [(0, 0)]] * 9)]  # fmt: skip
    assert models == [{"places": [0, 1, 2, 3, 4], "labels": [0] * 5}] * 3


def test_votes_without_delta_or_epsilon_are_refused():
    for charge in (ApproxDP(1, 0), ApproxDP(0, "1e-6")):
        with pytest.raises(ParameterError):
            fit_of(3, charge=charge)


def test_its_document_tells_fits_apart():
    documents = [
        fit_of(4, **change).document() for change in (
            {}, {"threshold": 3}, {"answers": 2}, {"moved": 2}, {"share": "1/5"}, {"count": 4},
            {"charge": ApproxDP(3, "1e-3")}, {"charge": ApproxDP(2, "1e-4")},
        )
    ]  # fmt: skip
    assert all(documents.count(one) == 1 for one in documents)
    assert isinstance(fit_of(4).teachers, Teachers)


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_claim_but_that_of_less_noise():
    """One row more, which turns one teacher of two."""

    def refuted(epsilon):
        fit = fit_of(1, count=1, threshold=0, charge=ApproxDP(epsilon, "1e-3"))

        def label(records):
            return [*fit.release(Secret(rows_of([[one] for one in records])))["labels"], NONE][0]

        return audit(label, [([(0, 0)], [(0, 1)])], epsilon="0.5", delta="1e-3", samples=300).is_refuted

    assert not refuted("0.5")
    assert refuted(60)


def majority(votes, stddev):
    """The exact distribution of the class with the largest noisy count."""
    fit = fit_of(1, classes=len(votes), threshold=0)
    object.__setattr__(fit, "count", GaussianNoise(l2_sensitivity=1, stddev=stddev))
    return law(fit, votes)[1:] / law(fit, votes)[1:].sum()


def near(votes):
    """All votes of which one is added, removed or another."""
    steps = np.eye(len(votes), dtype=int)
    changes = [*steps, *-steps, *(steps[b] - steps[a] for a, b in permutations(range(len(votes)), 2))]
    return [tuple(one) for one in (votes + change for change in changes) if min(one) >= 0]


@pytest.mark.parametrize("votes", [(9, 0, 0), (6, 1, 0), (4, 3, 1), (3, 3, 3)])
@pytest.mark.parametrize("stddev", [1, 2])
def test_no_neighbor_diverges_more_than_it_says(votes, stddev):
    bound = label_divergences(np.array(votes), stddev=stddev, reach=1 / stddev**2, orders=ORDERS)
    own = majority(votes, stddev)
    worst = np.zeros(len(ORDERS))
    for other in near(np.array(votes)):
        theirs = majority(other, stddev)
        found = [np.log((own**order * theirs ** (1 - order)).sum()) / (order - 1) for order in ORDERS]
        worst = np.maximum(worst, found)
    assert (worst <= bound + 1e-9).all()
    assert (bound <= ORDERS / stddev**2).all()
    if votes == (9, 0, 0) and stddev == 1:
        assert bound[1] < ORDERS[1] / stddev**2 / 100


def test_agreement_costs_less_and_the_charge_stays_what_it_is():
    fit = fit_of(30, count=400, classes=3, threshold=200, charge=ApproxDP(4, "1e-5"), share="1/100")
    sure, split = (Secret(np.array([votes] * 30)) for votes in ((390, 5, 5), (140, 130, 130)))
    low, high = owners_epsilon(fit, sure), owners_epsilon(fit, split)
    assert isinstance(low, Secret)
    assert low.open_for_noise() < 1
    assert 3 < high.open_for_noise() < 5
    assert fit.charge == ApproxDP(4, "1e-5")
    half = fit_of(30, count=400, classes=3, answers=15, charge=ApproxDP(4, "1e-5"))
    assert half.count.stddev < fit.count.stddev
    with pytest.raises(ParameterError, match="orders"):
        label_divergences(np.array([1, 0]), stddev=1.0, reach=1.0, orders=np.array([Fraction(1)], dtype=float))
