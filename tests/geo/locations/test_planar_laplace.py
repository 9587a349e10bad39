"""Geo-indistinguishability: ratios of every report from every two places, with the edge of the region and snapping."""

from fractions import Fraction
from math import cos, hypot, radians

import mpmath
import numpy as np
import pytest
from tests.laws import ALPHA

from sfumato.audit import audit
from sfumato.errors import ParameterError
from sfumato.geo.locations import planar_laplace as module
from sfumato.geo.locations.levels import LEVELS
from sfumato.geo.locations.planar_laplace import Location, PlanarLaplace
from sfumato.geo.planes.grid import Grid
from sfumato.geo.planes.planar_noise import grid_tails, planar_quantile
from sfumato.geo.planes.projection import LocalProjection
from sfumato.noise.laws import planar_laplace as law
from sfumato.privacy.secret import Secret

PLANE = LocalProjection("48.8566", "2.3522")
GRID = Grid(PLANE, cell=100, columns=5, rows=4)
NOISY = PlanarLaplace(GRID, epsilon="0.008")
REACH = 60


def law_of(mechanism, cell, monkeypatch):
    """The probability of each reported cell, by running its own code once with every noise of a large square."""
    side = np.arange(-REACH, REACH + 1)
    noise = np.stack([part.ravel() for part in np.meshgrid(side, side)], axis=1)
    scales = []
    monkeypatch.setattr(module, "planar_laplace", lambda scale, _: scales.append(scale) or noise)
    found = mechanism.release_cells(np.full(len(noise), cell))
    weights = np.exp(-np.hypot(*noise.T) / float(scales[0]))
    return np.bincount(found, weights=weights, minlength=len(mechanism.grid)) / weights.sum()


def laws_of(mechanism, monkeypatch):
    return np.array([law_of(mechanism, cell, monkeypatch) for cell in range(len(mechanism.grid))])


def test_every_report_has_the_ratio_of_its_distance_from_every_two_cells(monkeypatch):
    """With the region's edge: what falls outside is moved to it, and makes its cells likelier from everywhere."""
    laws, worst = laws_of(NOISY, monkeypatch), 0.0
    columns, rows = GRID.places_of(np.arange(len(GRID)))
    for x in range(len(GRID)):
        for other in range(len(GRID)):
            meters = 100 * hypot(columns[x] - columns[other], rows[x] - rows[other])
            loss = float(np.log(laws[x] / laws[other]).max())
            assert loss <= 0.008 * meters + 1e-9
            worst = max(worst, loss / (0.008 * meters)) if meters else worst
    assert worst > 0.95
    assert NOISY.snapped_guarantee.loss(100) == Fraction("0.8")


def test_a_renormalized_edge_would_break_the_promise(monkeypatch):
    """Drawing inside of the region alone makes the normalizer depend on the place: then ε·d does not hold."""
    laws = laws_of(NOISY, monkeypatch)
    columns, rows = GRID.places_of(np.arange(len(GRID)))
    apart = 100 * np.hypot(columns[:, None] - columns, rows[:, None] - rows)
    cut = np.exp(-0.008 * apart)
    cut /= cut.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        excess = [
            max(
                float(np.log(table[x] / table[y]).max()) / (0.008 * apart[x, y])
                for x in range(20)
                for y in range(20)
                if x != y
            )
            for table in (laws, cut)
        ]
    assert excess[0] <= 1 + 1e-9 < excess[1]


def ground(first, second):
    """Meters on a sphere of the local radius, near enough for a region of a kilometer: within half a percent."""
    across = (first[1] - second[1]) * cos(radians((first[0] + second[0]) / 2))
    return 111_195 * hypot(first[0] - second[0], across)


def test_between_true_places_snapping_and_the_projection_are_in_the_promise(monkeypatch):
    laws, draws = laws_of(NOISY, monkeypatch), np.random.default_rng(2)
    needed = 0.0
    for _ in range(800):
        east, north = draws.uniform(-249, 249), draws.uniform(-199, 199)
        step = draws.uniform(-60, 60, 2)
        points = [PLANE.degrees(*at) for at in ((east, north), np.clip((east + step[0], north + step[1]), -199, 199))]
        cells = [int(GRID.nearest_cells(*point)) for point in points]
        loss = float(np.log(laws[cells[0]] / laws[cells[1]]).max())
        meters = ground(points[0], points[1])
        assert loss <= float(NOISY.guarantee.loss(Fraction(meters))) * 1.005
        needed = max(needed, loss - 0.008 * meters)
    assert needed > 0.4 * float(
        NOISY.guarantee.offset
    )  # ε·d alone would not hold: two sides of an edge are a cell apart


def test_the_guarantee_is_epsilon_times_the_stretch_with_a_diagonal_as_offset():
    stretch = Fraction(PLANE.stretch(GRID.reach).most)
    assert NOISY.guarantee.epsilon == NOISY.epsilon * stretch > NOISY.epsilon
    diagonal = 0.008 * 100 * 2**0.5
    assert diagonal < float(NOISY.guarantee.offset) < diagonal * 1.0001
    assert NOISY.guarantee.unit == NOISY.snapped_guarantee.unit == "meter"


@pytest.mark.parametrize("cell", [25, 100, 400])
def test_the_scale_is_one_over_epsilon_in_cells(cell):
    mechanism = PlanarLaplace(Grid(PLANE, cell=cell, columns=4, rows=4), epsilon="0.01")
    assert mechanism.scale * cell == 100
    assert PlanarLaplace(GRID, level="low").epsilon == LEVELS["low"].epsilon


@pytest.mark.parametrize(
    "most", [1 << 41, 1 << 62, (1 << 63) - 4, 1 << 63, 1 << 80], ids=["2^41", "2^62", "2^63-4", "2^63", "2^80"]
)
def test_noise_is_added_in_full_before_the_sum_is_moved_into_the_grid(most, monkeypatch):
    """Noise that is cut first shows the place: the cut is then reported from everywhere with the place added to it."""
    noise = np.array([[most + 1, -most], [most, 1], [-most - 2, most + 3]], dtype=object)
    drawn = noise if most + 3 >= 1 << 63 else noise.astype(np.int64)
    monkeypatch.setattr(module, "planar_laplace", lambda *_: drawn)
    columns, rows = GRID.places_of(np.array([7, 8, 13]))
    noisy = NOISY.noisy_places(np.array([7, 8, 13]))
    assert noisy.tolist() == [
        [int(c) + u, int(r) + v] for c, r, (u, v) in zip(columns, rows, noise.tolist(), strict=True)
    ]
    assert NOISY.nearest(noisy).tolist() == [4, 14, 15]
    assert NOISY.nearest(noisy).dtype == np.int64


def test_at_the_smallest_epsilon_no_report_shows_the_column():
    """Noise of scale 2^40 cells is beyond 2^40 half of the time: reports on the plane then differ in more than 200."""
    wide = PlanarLaplace(GRID, epsilon=Fraction(1, 100 << 40))
    assert len(np.unique(wide.noisy_places(np.full(200, 7))[:, 0])) > 195


@pytest.mark.statistical
def test_small_cells_lead_to_the_goldens():
    """Mean 2/ε, median 1.67835/ε and 95% at 4.743865/ε, of reports of a large grid in meters."""
    grid = Grid(PLANE, cell=5, columns=8000, rows=8000)
    mechanism, count = PlanarLaplace(grid, epsilon="0.01"), 100_000
    middle = 4000 * 8000 + 4000
    columns, rows = grid.places_of(mechanism.release_cells(np.full(count, middle)))
    meters = 5 * np.hypot(columns - 4000, rows - 4000)
    error = 5 * 100 * 2**0.5 / count**0.5
    assert abs(meters.mean() - 200) < error
    for share, golden in ((0.5, 1.67835), (0.95, 4.743865)):
        assert golden == pytest.approx(planar_quantile(share), abs=5e-6)
        below = (meters <= golden * 100).mean()
        assert abs(below - share) < (np.log(2 / ALPHA) / 2 / count) ** 0.5 + 0.01


@pytest.mark.statistical
def test_half_of_the_claim_is_refuted_by_reports_alone_and_the_claim_is_not():
    far, here = Grid(PLANE, cell=100, columns=3, rows=1), "0.01"
    mechanism = PlanarLaplace(far, epsilon=here)

    def run(cell, count):
        return mechanism.release_cells(np.full(count, cell)).tolist()

    pair = [(0, 2)]  # 200 meters apart: ε·d is 2
    claimed = [audit(run, pair, epsilon=epsilon, samples=20_000) for epsilon in (2, "0.9")]
    assert [report.is_refuted for report in claimed] == [False, True]


def test_places_come_in_and_go_out_in_degrees():
    place = NOISY.release(Secret((48.8566, 2.3522)))
    assert isinstance(place, Location)
    assert GRID.cells(*place) >= 0
    latitudes, longitudes = NOISY.release_many(Secret([48.8566, 90.0]), [2.3522, float("nan")])
    assert (GRID.cells(latitudes, longitudes) >= 0).all()


def test_no_place_is_an_error_that_a_value_decides():
    for place in ((float("nan"), 0), (None, None), (1e308, -1e308), (float("inf"), 0)):
        assert GRID.cells(*NOISY.release(place)) >= 0
    for wrong in (5, (1, 2, 3), ("x", "y"), None):
        with pytest.raises(ParameterError, match="exact"):
            NOISY.release(wrong)


def test_accuracy_covers_the_noise_and_the_cell():
    mechanism = PlanarLaplace(Grid(PLANE, cell=10, columns=2000, rows=2000), epsilon="0.01")
    assert 474 < mechanism.accuracy("0.95") < 474 * 1.06
    assert mechanism.accuracy("0.5") < mechanism.accuracy("0.99")


def test_the_sampler_is_the_one_that_was_enumerated():
    """The law that the tests of ratios assume is that of the noise, whose tails are summed elsewhere."""
    distances, tails = grid_tails(float(NOISY.scale))
    side = np.arange(-REACH, REACH + 1)
    weights = np.exp(-np.hypot(side[:, None], side) / float(NOISY.scale))
    beyond = weights[np.hypot(side[:, None], side) > 2].sum() / weights.sum()
    assert beyond == pytest.approx(tails[distances == 2.0][0], abs=1e-9)
    assert law.planar_laplace is not None
    assert mpmath.mpf(NOISY.scale.numerator) / NOISY.scale.denominator == 1.25


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"epsilon": 1, "level": "low"},
        {"epsilon": 0},
        {"epsilon": "x"},
        {"level": "none"},
        {"epsilon": 10**6},
        {"epsilon": "1e-30"},
    ],
)
def test_what_is_out_of_range_is_refused(given):
    with pytest.raises(ParameterError):
        PlanarLaplace(GRID, **given)
    with pytest.raises(ParameterError, match="grid"):
        PlanarLaplace("x", epsilon=1)
