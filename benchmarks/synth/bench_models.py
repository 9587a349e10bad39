"""How long do fits of graphical models take, and draws of rows, on one core?

A made-up table has 48,842 rows and 13 columns of Adult's sizes, which depend on each other in a tree. All columns and
12 pairs are measured with Gaussian noise, as MST does. Then others are added one by one, as AIM does. Times are of the
processor, the best of three. The error is the total variation distance of pairs from the true ones, the mean of all 78.
mbi runs once on the same noisy counts, in an environment of its own (make peers), where there is one.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path

import numpy as np

import sfumato as sf
from sfumato.synth.models.tree import junction_tree

PEER = Path(__file__).parents[1] / "peers" / "mbi"
REPEATS = 3
ROWS, MANY = 48_842, 1_000_000
SIZES = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42)
TREE = ((0, 2), (0, 3), (3, 4), (0, 5), (5, 6), (3, 7), (0, 11), (11, 12), (2, 1), (6, 8), (11, 9), (9, 10))
ADDED = ((0, 5, 6), (3, 4, 7), (5, 6, 7, 8), (1, 4), (2, 4), (0, 1))
STDDEV = 50.0


def seconds(work):
    """Of the processor, the best of several runs, and what the last one gave."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        found = work()
        best = min(best, time.process_time() - start)
    return best, found


def made_up(generator):
    """Rows whose columns depend on each other along the tree."""
    popular = [np.arange(1, size + 1) ** -1.3 for size in SIZES]
    columns = {0: generator.choice(SIZES[0], ROWS, p=popular[0] / popular[0].sum())}
    for parent, child in TREE:
        fresh = generator.choice(SIZES[child], ROWS, p=popular[child] / popular[child].sum())
        follows = generator.random(ROWS) < 0.5
        columns[child] = np.where(follows, columns[parent] * 7 % SIZES[child], fresh)
    return columns


def counted(columns, group):
    lengths = [SIZES[place] for place in group]
    cells = np.ravel_multi_index([columns[place] for place in group], lengths)
    return np.bincount(cells, minlength=np.prod(lengths)).reshape(lengths)


def measured(columns, group, generator):
    counts = counted(columns, group)
    noise = STDDEV * generator.normal(size=counts.shape)
    return sf.synth.NoisyMarginal([f"c{place}" for place in group], counts + noise, stddev=STDDEV)


def error(model, columns):
    apart = [
        np.abs(model.marginal([f"c{place}" for place in pair]) - counted(columns, pair)).sum() / (2 * ROWS)
        for pair in combinations(range(len(SIZES)), 2)
    ]
    return np.mean(apart)


def peer(marginals, columns):
    """What mbi makes of the same noisy counts."""
    python = PEER / ".venv" / "bin" / "python"
    if not python.exists():
        return
    arrays = {f"noisy {'-'.join(marginal.columns)}": marginal.counts for marginal in marginals}
    arrays |= {f"size c{place}": np.array(size) for place, size in enumerate(SIZES)}
    arrays |= {f"true c{a}-c{b}": counted(columns, (a, b)) for a, b in combinations(range(len(SIZES)), 2)}
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/counts.npz", **arrays)
        command = [python, PEER / "ask.py", f"{folder}/counts.npz", str(STDDEV), str(ROWS), "300", "1000"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    for iterations, found in json.loads(answer.stdout).items():
        print(
            f"mbi, {iterations} iterations: {found['seconds']:.1f} s, loss {found['loss']:.3f} of what is expected, "
            f"error {found['error']:.4f}"
        )


def main():
    generator = np.random.default_rng(1)
    shape = sf.synth.TableShape({f"c{place}": size for place, size in enumerate(SIZES)})
    columns = made_up(generator)
    singles = [measured(columns, (place,), generator) for place in range(len(SIZES))]
    marginals = singles + [measured(columns, pair, generator) for pair in TREE]
    print(f"error of independent columns: {error(sf.synth.fit_model(shape, singles), columns):.4f}")
    for steps in (1, 3, 10):
        taken, model = seconds(lambda steps=steps: sf.synth.fit_model(shape, marginals, steps=steps))
        report = model.report
        print(
            f"fit of {len(marginals)} marginals, {model.cells:,} cells, {steps} steps: {taken:.2f} s, "
            f"{report.iterations} iterations, loss {report.loss / report.expected_loss:.3f} of what is expected, "
            f"error {error(model, columns):.4f}"
        )
    peer(marginals, columns)
    model = sf.synth.fit_model(shape, marginals)
    for group in ADDED:
        marginals.append(measured(columns, group, generator))
        cold, _ = seconds(lambda: sf.synth.fit_model(shape, marginals))
        warm, model = seconds(lambda earlier=model: sf.synth.fit_model(shape, marginals, start=earlier))
        size = junction_tree(shape, model.potentials).size / 1e6
        print(f"with {group}, a tree of {size:.2f} MB: {cold:.2f} s, {warm:.2f} s from the earlier model")
    print(f"error at last: {error(model, columns):.4f}")
    for seed in (1, None):
        taken, _ = seconds(lambda seed=seed: model.rows(MANY, seed=seed))
        print(f"{MANY:,} rows of {len(SIZES)} columns, seed {seed}: {taken:.2f} s")
    taken, _ = seconds(lambda: [model.marginal(pair) for pair in combinations(shape.sizes, 2)])
    print(f"all 78 pairs: {taken:.2f} s")
    print(f"memory at most: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    sys.exit(main())
