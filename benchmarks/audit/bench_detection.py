"""Which seeded bugs does the built-in audit find, with how many samples for each database?

The mechanisms are those of tests/audit/zoo.py; every tester runs alone at a type-I error of 1e-6. The event testers say
"privacy violation", the law test "calibration bug". The last lines are the support and precision attacks on the
floating-point Laplace noise of NumPy.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.audit.detection import Detection, detect
from tests.audit.zoo import BROKEN_SPARSE_VECTORS, RIGHT, SEEDED, Specimen

from sfumato.attacks.implementation.floating_point import precision_attack, support_attack, textbook_laplace_reaches

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
TESTERS = ("split_search", "bits", "hockey_stick", "law")


def sizes_of_first_finds(specimen: Specimen, all_found: dict[int, list[Detection]]) -> list[str]:
    """For each tester the smallest sample that sufficed, in this one run."""
    cells = []
    for tester in TESTERS:
        sizes = [n for n in SIZES if any(d.name == specimen.name and getattr(d, tester) for d in all_found[n])]
        cells.append(f"{min(sizes):,}" if sizes else "not found" if tester != "law" or specimen.law else "no law")
    return cells


def table(title: str, specimens: tuple[Specimen, ...]) -> None:
    found, seconds = {}, {}
    for n in SIZES:
        start = time.perf_counter()
        found[n] = [detect(specimen, samples=n) for specimen in specimens]
        seconds[n] = time.perf_counter() - start
    print(
        f"### {title}\n\n| mechanism | event search | regression on bits | hockey stick | law test |\n"
        "|---|---|---|---|---|"
    )
    for specimen in specimens:
        print(f"| {specimen.name} | {' | '.join(sizes_of_first_finds(specimen, found))} |")
    print(f"\n| found of {len(specimens)} with | {' | '.join(f'{n:,}' for n in SIZES)} |\n|{'---|' * (len(SIZES) + 1)}")
    rows = {
        "event search": [sum(d.split_search for d in found[n]) for n in SIZES],
        "regression on bits": [sum(d.bits for d in found[n]) for n in SIZES],
        "hockey stick": [sum(d.hockey_stick for d in found[n]) for n in SIZES],
        "law test": [sum(d.law for d in found[n]) for n in SIZES],
        "event testers together": [sum(d.by_events for d in found[n]) for n in SIZES],
        "all together": [sum(d.found for d in found[n]) for n in SIZES],
        "seconds, sampling included": [f"{seconds[n]:.1f}" for n in SIZES],
    }
    for words, cells in rows.items():
        print(f"| {words} | {' | '.join(map(str, cells))} |")
    print()


def attacks() -> None:
    rng = np.random.default_rng(2012)
    outputs = rng.laplace(0, 4, 100_000)
    support = support_attack(outputs, reaches=lambda value: textbook_laplace_reaches(value, location=1, scale=4))
    precision = precision_attack(
        lambda n: rng.laplace(0, 4, n).tolist(), lambda n: rng.laplace(1, 4, n).tolist(), epsilon=0.25
    )
    print("### NumPy's Laplace noise, counts 0 and 1, ε = 0.25\n")
    print(f"Outputs at count 0 that are unreachable from count 1: {support:.1%} of {len(outputs):,}.")
    print(f"Outputs that a black-box precision attack tells apart: {precision.fraction:.1%}.")


if __name__ == "__main__":
    table("Seeded bugs", SEEDED)
    table("Broken sparse vectors", BROKEN_SPARSE_VECTORS)
    table("Right mechanisms", RIGHT)
    attacks()
