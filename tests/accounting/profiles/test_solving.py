import numpy as np

from sfumato.accounting.profiles.solving import below_roots

GRID = np.linspace(-10, 10, 41)


def cubic(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x**3 + x, 3 * x**2 + 1


def steep_then_flat(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.tanh(50 * x), 50 / np.cosh(np.minimum(np.abs(50 * x), 300)) ** 2


def test_roots_are_near_and_never_above():
    targets = np.linspace(-900, 900, 997)
    roots = below_roots(cubic, targets, grid=GRID)
    assert np.all(cubic(roots)[0] <= targets)
    assert np.all(cubic(roots + 1e-13 * (1 + np.abs(roots)))[0] >= targets)


def test_where_newton_leaves_the_bracket_it_is_halved():
    targets = np.array([-0.999, -0.5, 0.0, 0.7, 0.9999])
    roots = below_roots(steep_then_flat, targets, grid=GRID)
    assert np.allclose(roots, np.arctanh(targets) / 50, atol=1e-11)
    assert np.all(steep_then_flat(roots)[0] <= targets)


def test_targets_out_of_reach_end_at_the_ends_of_the_grid():
    roots = below_roots(cubic, np.array([-1e9, 1e9]), grid=GRID)
    assert roots.tolist() == [-10, 10]


def test_targets_beyond_any_slope_do_not_overflow():
    assert below_roots(steep_then_flat, np.array([1e300, -1e300]), grid=GRID).tolist() == [10.0, -10.0]


def test_roots_already_found_are_not_asked_for_again():
    sizes = []

    def counted(x):
        sizes.append(x.size)
        return steep_then_flat(x)

    below_roots(counted, np.array([*[0.0] * 100, 1 - 1e-9]), grid=GRID)
    assert sizes[-1] < 10
