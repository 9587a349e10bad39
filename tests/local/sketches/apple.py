"""Apple's estimates, as its description writes them: one addition for each report and cell."""

import numpy as np

from sfumato.local.sketches.polynomials import columns_of


def count_mean(sketch, payloads, epsilon, value):
    """m/(m − 1)·(Σ M[j, h_j(d)]/k − n/m), where M grows by k·(c/2·v + 1/2) with each report v of ±1 in row j."""
    k, m, n = sketch.hashes, sketch.width, len(payloads)
    c = (np.exp(epsilon / 2) + 1) / (np.exp(epsilon / 2) - 1)
    cells = np.zeros((k, m))
    for row in payloads:
        bits = np.unpackbits(row[1:])[:m].astype(float) * 2 - 1
        cells[row[0]] += k * (c / 2 * bits + 0.5)
    return _estimate(cells, value, n)


def hadamard(sketch, payloads, epsilon, value):
    """The same of M·Hᵀ, where M[j, l] grows by k·c·w with each sign w."""
    k, m, n = sketch.hashes, sketch.width, len(payloads)
    c = (np.exp(epsilon) + 1) / (np.exp(epsilon) - 1)
    cells = np.zeros((k, m))
    for row in payloads:
        number = int.from_bytes(row.tobytes())
        cells[number // 2 // m, number // 2 % m] += k * c * (1 - 2 * (number % 2))
    matrix = np.array([[(-1) ** (i & j).bit_count() for j in range(m)] for i in range(m)])
    return _estimate(cells @ matrix.T, value, n)


def _estimate(cells, value, n):
    k, m = cells.shape
    columns = columns_of(np.arange(k), np.full(k, value), functions=k, columns=m)
    return m / (m - 1) * (cells[np.arange(k), columns].sum() / k - n / m) / n
