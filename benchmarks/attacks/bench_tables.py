"""What attacks on anonymised tables, on tables of a census and on errors come to, on what is given out and on ε = 1.

Each line is of one run: how often the attack was right where the table, or the engine, was asked as it is, and where a
session answers with ε = 1 in all, beside blind guessing.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.attacks_through_curators import test_blocks as blocks
from tests.attacks_through_curators import test_error_oracle as errors
from tests.attacks_through_curators import test_linkage as cells
from tests.attacks_through_curators import test_tables as tables

from sfumato.attacks.linking.records import linkage, misspelt, misspelt_linkage
from sfumato.datasets.voters import QUASI_IDENTIFIERS, hospital_and_voters

PEOPLE, MISSPELT = 2_000, 0.3


def typos() -> Iterator[str]:
    """Records of which nearly a third of ZIP codes and of birth dates are misspelt."""
    two = hospital_and_voters(PEOPLE)
    voters = {name: list(map(str, two.voters[name].to_pylist())) for name in two.voters.column_names}
    typed = {name: list(map(str, two.hospital[name].to_pylist())) for name in QUASI_IDENTIFIERS}
    typed |= {name: misspelt(typed[name], share=MISSPELT) for name in ("zip", "birth_date")}
    known = {"columns": QUASI_IDENTIFIERS, "name": "name", "truth": two.patients}
    yield f"a join of misspelt records: {linkage(typed, voters, **known)}"
    yield f"weighed: {misspelt_linkage(typed, voters, typos=MISSPELT, **known)}"
    yield f"through a session: {cells.attack('misspelt', cells.private('1'))}"


def anonymised() -> Iterator[str]:
    """Rare values, single persons and ends of intervals."""
    raw, private = tables.named_ill()
    yield f"the ill of the fullest class: {raw}\nthe ill by noisy counts: {private}"
    raw, private = tables.singled_out()
    yield f"by a k-anonymous table: {raw}\nsingled out by noisy counts: {private}"
    raw, private = tables.ends()
    yield f"{raw}\nends of public cells: {private}"


def census() -> Iterator[str]:
    """Blocks of seven people."""
    people = [[blocks.CELLS[at] for at in np.random.default_rng().integers(0, len(blocks.CELLS), 7)] for _ in range(40)]
    found, certain = blocks.attacked(people, blocks.exact(people), check_unique=True)
    yield f"exact tables, {certain} of {len(people)} blocks beyond doubt: {found}"
    yield f"through a session: {blocks.attacked(people, blocks.private(people, 1))[0]}"


def failures() -> Iterator[str]:
    """Questions that fail where one person is."""
    for condition in errors.CONDITIONS:
        yield f"{condition}, raw: {errors.attacked(errors.raw, condition).outcome}"
        yield f"{condition}, through a session: {errors.attacked(errors.private, condition).outcome}"


if __name__ == "__main__":
    for measure in (typos, anonymised, census, failures):
        for line in measure():
            print(line, flush=True)
