"""Bits of 128 people from the curator, ε = 1 in all for each person, in many databases at once, by two adversaries.

One asks for 512 sums over subsets, said in SQL by arithmetic on the number of a row, as in the attack on a system in
use [CN20]. It needs many answers and gets little of ε for each. The other asks of each person whether they are ill, in
one question with a group for each: that gets all that ε allows.
"""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.attacks.core.outcome import largest_success
from sfumato.attacks.reconstruction import each_alone, least_squares, linear_program, reconstruct, together
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


def opened(table, people, epsilon):
    """A curator of some databases with as much to spend."""
    worlds = {"world": sf.integer(values=range(int(table["world"].max()) + 1)), "ill": sf.integer(0, 1)}
    known = {"name": "people", "unit": sf.EACH_ROW, "columns": worlds | people}
    return sf.open(pa.table(table), budget=sf.PureDP(epsilon), **known)


def one_by_one(secrets, epsilon):
    """What the strong adversary makes of one question about everybody: each person's own count, databases by people."""
    worlds, people = secrets.shape
    whose = {"world": np.repeat(np.arange(worlds), people), "person": np.tile(np.arange(people), worlds)}
    question = "SELECT world, person, COUNT(*) AS n FROM people WHERE ill = 1 GROUP BY world, person"
    keys = {"person": sf.integer(values=range(people))}
    with opened(whose | {"ill": secrets.ravel().astype(int)}, keys, epsilon) as curator:
        shown = curator.sql(question, epsilon=epsilon).to_arrow()
        assert curator.spent == sf.PureDP(epsilon)
    counts = np.full(secrets.shape, np.nan)
    counts[shown["world"].to_numpy(), shown["person"].to_numpy()] = shown["n"].to_numpy()
    return counts


def guessed(secret, counts, epsilon):
    """The same attack on one database, whose questions are about each person alone."""
    answers = dict(enumerate(counts.tolist()))
    asked = {"masks": each_alone(len(secret)), "epsilon": epsilon}
    return reconstruct(lambda mask: answers[int(mask.argmax())], secret=secret, **asked).outcome


def answered(secrets, epsilon, *, parts=PARTS):
    """The answers to some parts of the subsets, databases by questions, at equal shares of ε."""
    worlds, people = secrets.shape
    table = {
        "world": np.repeat(np.arange(worlds), people),
        "person": np.tile(np.arange(people), worlds),
        "ill": secrets.ravel().astype(int),
    }
    with opened(table, {"person": sf.integer(0, people - 1)}, epsilon) as curator:
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


@pytest.mark.statistical
def test_who_asks_about_each_person_alone_gets_what_epsilon_allows_and_no_more(secrets):
    """Type-I error 1e-6 for each side; noise of half the size would give 88% of the bits away."""
    found = together(guessed(*pair, 1) for pair in zip(secrets, one_by_one(secrets, 1), strict=True))
    low, high = found.interval(confidence=1 - 2e-6)
    assert low <= found.allowed <= high, found
    assert high - low < 0.08


def test_who_asks_about_each_person_alone_gets_everything_where_there_is_next_to_no_noise(secrets):
    few = secrets[:2]
    assert together(guessed(*pair, 1) for pair in zip(few, one_by_one(few, 100_000), strict=True)).success == 1
