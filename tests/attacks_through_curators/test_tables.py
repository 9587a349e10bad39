"""What anonymised tables give away and noisy counts of the same people do not: rare values, ends, single persons."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.core.outcome import Outcome
from sfumato.attacks.disclosure.anonymity_attacks import Predicate, downcoding, predicates, singling_out, skewness
from sfumato.attacks.disclosure.generalization import Generalized, generalize

RNG = np.random.default_rng(1997)
CERTAIN = 1 - 2e-6
"""Of an interval: a limit fails with a chance of 1e-6, which is the type-I error of each test."""
CLASSES, SIZE = 3_000, 4
RARE = 0.02


def rare_illness():
    """Classes of four of whom one in fifty is ill, everywhere alike but by chance."""
    return RNG.random((CLASSES, SIZE)) < RARE


def asked(rows, columns, question, epsilon=1):
    """The answers to a question with all that there is to spend."""
    known = {"name": "people", "unit": sf.EACH_ROW, "columns": columns}
    with sf.open(pa.table(rows), budget=sf.PureDP(epsilon), **known) as people:
        return people.sql(question, epsilon=epsilon).to_arrow()


def noisy_ill(ill):
    """How many are ill in each class, at ε = 1 in all."""
    rows = {"class": np.repeat(np.arange(CLASSES), SIZE), "ill": ill.ravel().astype(int)}
    columns = {"class": sf.integer(values=range(CLASSES)), "ill": sf.integer(0, 1)}
    found = asked(rows, columns, "SELECT class, COUNT(*) AS n FROM people WHERE ill = 1 GROUP BY class")
    counts = np.zeros(CLASSES)
    counts[found["class"].to_numpy()] = found["n"].to_numpy()
    return counts


def named_ill():
    """The people in the class with most ill, by the table; and in classes with a noisy count of 1 or more."""
    ill = rare_illness()
    starts = 10.0 * np.arange(CLASSES)[:, None]
    names = tuple(tuple("ill" if one else f"well {at}" for at, one in enumerate(row)) for row in ill.tolist())
    made = Generalized(columns=("age",), low=starts, high=starts + 3, sensitive=names)
    people = {"age": (starts + np.arange(SIZE)).ravel(), "illness": [name for row in names for name in row]}
    named = ill[noisy_ill(ill) >= 1].ravel()
    return skewness(made, people, sensitive="illness", value="ill"), Outcome(
        attack="skewness of noisy counts", successes=int(named.sum()), trials=named.size, baseline=RARE
    )


@pytest.mark.statistical
def test_a_diverse_table_names_the_ill_and_noisy_counts_only_as_epsilon_allows():
    """The odds of being ill grow by e^ε at most, whatever is answered; type-I error 1e-6."""
    raw, private = named_ill()
    assert raw.success >= 0.5 > 10 * raw.baseline
    assert raw.attack == "skewness of a 3-diverse table" or raw.attack.startswith("skewness of a 2-diverse")
    odds = np.e * RARE / (1 - RARE)
    low, high = private.interval(confidence=CERTAIN)
    assert low <= odds / (1 + odds)
    assert high < 0.1


NAMES = tuple("abcdefgh")
HIGHEST = 1_000
TABLE, OTHERS = ({name: RNG.integers(0, HIGHEST, count) for name in NAMES} for count in (800, 20_000))
PARTS = 2
WIDTH = HIGHEST // PARTS


def cells(table):
    """Of each row, in which half of each of the first four columns it lies, as one number."""
    return sum((np.asarray(table[name]) // WIDTH) * PARTS**at for at, name in enumerate(NAMES[:4]))


def noisy_cells():
    """How many lie in each of 16 cells, at ε = 1 in all."""
    columns = {"cell": sf.integer(values=range(PARTS**4))}
    found = asked({"cell": cells(TABLE)}, columns, "SELECT cell, COUNT(*) AS n FROM people GROUP BY cell")
    counts = np.zeros(PARTS**4)
    counts[found["cell"].to_numpy()] = found["n"].to_numpy()
    return counts


def boxes():
    corners = np.array([[(cell >> at) & 1 for at in range(4)] for cell in range(PARTS**4)])
    low = np.hstack([corners * WIDTH, np.zeros((len(corners), 4))]).astype(float)
    high = np.hstack([corners * WIDTH + WIDTH - 1, np.full((len(corners), 4), HIGHEST)]).astype(float)
    return low, high


def anonymous():
    return generalize(TABLE | {"ill": [0] * 800}, columns=NAMES, sensitive="ill", k=4)


def singled_out():
    """Predicates of a k-anonymous table; and some of equal weight, in the cells that have most by noisy counts."""
    raw = singling_out(predicates(anonymous()), TABLE, population=OTHERS)
    share = min(1.0, PARTS**4 * raw.baseline / len(TABLE["a"]))
    corners = list(zip(*boxes(), strict=True))
    fullest = [corners[cell] for cell in np.argsort(-noisy_cells())[:8]]
    tried = [
        Predicate(columns=NAMES, low=low, high=high, share=share, salt=RNG.bytes(16))
        for low, high in fullest
        for _ in range(20)
    ]
    return raw, singling_out(tried, TABLE, population=OTHERS)


def ends():
    """Ends of the narrowest intervals, and of cells that were fixed before anybody looked."""
    low, high = boxes()
    public = Generalized(columns=NAMES, low=low, high=high, sensitive=(("?",),) * len(low))
    return downcoding(anonymous(), TABLE), downcoding(public, TABLE)


@pytest.mark.statistical
def test_a_k_anonymous_table_singles_people_out_and_noisy_counts_do_so_no_more_often_than_none():
    """Type-I error 1e-6; fuller cells isolate a little more often than the mean one."""
    raw, private = singled_out()
    assert private.interval(confidence=CERTAIN)[0] <= np.e * private.baseline
    assert raw.success > 2 * raw.baseline


def test_ends_of_a_k_anonymous_table_are_somebodys_and_ends_of_public_cells_are_not():
    raw, private = ends()
    assert raw.success == 1
    assert private.success < 0.3
