"""512 sums over subsets of 128 people from the curator, ε = 1 in all for each person, in many databases at once.

The adversary says in SQL who is in a subset, by arithmetic on the number of a row, as in the attack on a system in use
[CN20].
"""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.attacks.limits import largest_success
from sfumato.attacks.reconstruction import least_squares, linear_program, reconstruct, together
from sfumato.errors import BudgetExceededError

PEOPLE, QUESTIONS = 128, 512
DATABASES, BY_PROGRAM = (200, 200) if FULL_SIZE else (60, 20)
"""How many are attacked, and how many also by linear programs, the slower of two attacks of equal strength."""
PRIME = 131
RNG = np.random.default_rng(2020)
HALF = PRIME // 2
KEYS = RNG.permutation(HALF * PRIME)[:QUESTIONS]
"""A factor of 1 to 65 and a shift of 0 to 130 for each subset; larger factors would give the same ones again."""
FACTORS, SHIFTS = KEYS // PRIME + 1, KEYS % PRIME
MASKS = (np.outer(FACTORS, np.arange(PEOPLE)) + SHIFTS[:, None]) % PRIME < HALF
PARTS = np.split(np.arange(QUESTIONS), 2)
"""No release may have as many sums as all of them."""
DEVIATIONS = 4.9
"""So many standard errors a mean of many is above the truth once in two million times (by its normal limit)."""


def question(part):
    """A part of the subsets, as one question."""
    inside = {place: f"(person * {FACTORS[place]} + {SHIFTS[place]}) % {PRIME} < {HALF}" for place in part}
    counts = (f"COUNT(CASE WHEN {condition} THEN 1 END) AS a{place}" for place, condition in inside.items())
    return f"SELECT world, {', '.join(counts)} FROM people WHERE ill = 1 GROUP BY world"


def answered(secrets, epsilon, *, parts=PARTS):
    """The answers to some parts of the subsets, databases by questions, at equal shares of ε."""
    worlds, people = secrets.shape
    table = {
        "world": np.repeat(np.arange(worlds), people),
        "person": np.tile(np.arange(people), worlds),
        "ill": secrets.ravel().astype(int),
    }
    columns = {
        "world": sf.integer(values=range(worlds)),
        "person": sf.integer(0, people - 1),
        "ill": sf.integer(0, 1),
    }
    with sf.open(
        pa.table(table), name="people", unit=sf.EACH_ROW, columns=columns, budget=sf.PureDP(epsilon)
    ) as curator:
        shown = [curator.sql(question(part), epsilon=Fraction(epsilon) / len(parts)).to_arrow() for part in parts]
        assert curator.spent == sf.PureDP(epsilon)
        with pytest.raises(BudgetExceededError):
            curator.sql("SELECT COUNT(*) AS n FROM people", epsilon="0.001")
    assert all(part["world"].to_pylist() == list(range(worlds)) for part in shown)
    names = [(part, f"a{place}") for part, places in zip(shown, parts, strict=True) for place in places]
    return np.array([part[name].to_numpy() for part, name in names], dtype=float).T


def attacked(secret, answers, method):
    """What comes of the attack on one database, from answers that were given before."""
    masks = MASKS[: len(answers)]
    given = {mask.tobytes(): answer for mask, answer in zip(masks, answers, strict=True)}
    assert len(given) == len(answers)
    found = reconstruct(lambda mask: given[mask.tobytes()], secret=secret, masks=masks, method=method, epsilon=1)
    return found.outcome


@pytest.fixture(scope="module")
def secrets():
    return RNG.random((DATABASES, PEOPLE)) < 0.5


@pytest.fixture(scope="module")
def private(secrets):
    return answered(secrets, 1)


@pytest.mark.parametrize("method", [least_squares, linear_program])
def test_exact_and_rounded_answers_to_these_questions_give_the_bits_away(secrets, method):
    exact = MASKS @ secrets[0].astype(float)
    assert attacked(secrets[0], exact, method).success == 1
    assert attacked(secrets[0], 5 * np.round(exact / 5), method).success >= (0.99 if method is least_squares else 0.95)


def test_a_curator_with_next_to_no_noise_gives_them_away(secrets):
    few = secrets[:2]
    answers = answered(few, 100_000, parts=PARTS[:1])
    assert together(attacked(*pair, least_squares) for pair in zip(few, answers, strict=True)).success == 1


@pytest.mark.statistical
@pytest.mark.parametrize(("method", "databases"), [(least_squares, DATABASES), (linear_program, BY_PROGRAM)])
def test_at_epsilon_1_no_more_than_60_percent_of_bits_are_right(secrets, private, method, databases):
    found = [
        attacked(secret, answers, method)
        for secret, answers in zip(secrets[:databases], private[:databases], strict=True)
    ]
    shares = np.array([outcome.success for outcome in found])
    limit = shares.mean() + DEVIATIONS * shares.std(ddof=1) / np.sqrt(databases)
    assert limit <= 0.6, f"{shares.mean():.3f} of bits in {databases} databases, in truth at most {limit:.3f} (1e-6)"
    assert shares.mean() > 0.45  # a worse attack than blind guessing would prove nothing
    assert found[0].allowed == largest_success(epsilon=1)
