"""Fit the parameters of buffered counters, and print the table of `sfumato.mechanisms.continual.buffer_table`.

    python benchmarks/streams/fit_buffers.py > table.txt

A strategy with B buffers has c(x) = Π(1 − θ̂_i·x)/Π(1 − θ_i·x) with 1 > θ_1 > θ̂_1 > θ_2 > … > θ̂_B. Its largest error
is ‖c‖·‖b‖ over the horizon, b(x) = 1/(c(x)·(1 − x)). Both are sums of positive powers, in closed form, and nothing
cancels if 1 − θ and 1 − θ̂ are the parameters; so doubles do. Each row is the horizon's logarithm, B, and −1000·ln of 1
− θ_1, 1 − θ̂_1, 1 − θ_2, … as whole numbers. It is checked in 50 digits by
tests/mechanisms/continual/test_buffer_table.py.
"""

import numpy as np
from scipy.optimize import minimize

POWERS = range(8, 25)
MOST_BUFFERS = 6


def squared_norm(horizon, residues, gaps):
    """Σ over k below the horizon of (Σ_i residue_i·(1 − gap_i)^k)²."""
    both = gaps[:, None] + gaps - gaps[:, None] * gaps  # 1 minus the product of two poles
    logs = horizon * (np.log1p(-gaps)[:, None] + np.log1p(-gaps))
    safe = np.where(both > 0, both, 1)
    sums = np.where(both > 0, -np.expm1(logs) / safe, horizon)
    return residues @ sums @ residues


def residues(zeros, poles):
    """Of Π(1 − (1 − zero)·x)/Π(1 − (1 − pole)·x) with one pole more than zeros, as a sum of 1/(1 − (1 − pole)·x)."""
    found = []
    for place, pole in enumerate(poles):
        others = np.delete(poles, place)
        ratio = np.prod((zeros - pole) / (1 - pole)) / np.prod((others - pole) / (1 - pole)) if len(others) else 1.0
        found.append(ratio)
    return np.array(found)


def log_error(parameters, horizon):
    """ln(‖c‖·‖b‖) at logarithms of gaps that grow by e^parameter."""
    logs = np.cumsum(np.concatenate([parameters[:1], np.exp(parameters[1:])]))
    gaps = 1 / (1 + np.exp(-logs))
    poles, zeros = gaps[::2], gaps[1::2]
    tail = omegas(zeros, poles)
    first = 1 + squared_norm(horizon - 1, tail, poles)
    second = squared_norm(horizon, residues(poles, np.concatenate([[0.0], zeros])), np.concatenate([[0.0], zeros]))
    return 0.5 * (np.log(first) + np.log(second))


def omegas(zeros, poles):
    """c_k = Σ ω_b·θ_b^(k−1) for k ≥ 1."""
    found = []
    for place, pole in enumerate(poles):
        others = np.delete(poles, place)
        found.append((zeros[place] - pole) * np.prod((np.delete(zeros, place) - pole) / (others - pole)))
    return np.array(found)


def fitted(horizon, buffers, near):
    """The better of two starts: gaps spread evenly from 1/horizon to 1 on a logarithmic scale, and those nearby."""
    logs = np.linspace(-np.log(horizon), 0, 2 * buffers)
    starts = [np.concatenate([logs[:1], np.log(np.diff(logs))])]
    if near is not None:
        starts.append(near - np.log(2) * np.eye(2 * buffers)[0])
    options = {"gtol": 1e-9, "maxiter": 2000}
    found = [minimize(log_error, start, args=(horizon,), method="BFGS", options=options) for start in starts]
    return min(found, key=lambda result: result.fun)


def main():
    """Print a row for each horizon and number of buffers."""
    for buffers in range(1, MOST_BUFFERS + 1):
        near = None
        for power in POWERS:
            best = fitted(1 << power, buffers, near)
            near = best.x
            logs = np.cumsum(np.concatenate([near[:1], np.exp(near[1:])]))
            numbers = " ".join(str(round(1000 * np.log1p(np.exp(-log)))) for log in logs)
            print(f"{power} {buffers} {numbers}  # {np.exp(best.fun):.6f}", flush=True)


if __name__ == "__main__":
    main()
