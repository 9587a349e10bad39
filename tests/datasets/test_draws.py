import numpy as np

from sfumato.datasets.draws import choose, uniforms, whole_quantiles


def test_a_stream_is_the_same_for_ever():
    assert uniforms(1994, "age", 2).tolist() == [0.944736424445261, 0.2421511039008184]


def test_columns_and_seeds_have_streams_of_their_own():
    streams = {tuple(uniforms(seed, column, 4)) for seed in (1, 2) for column in ("age", "sex")}
    assert len(streams) == 4


def test_uniforms_fill_the_unit_interval_evenly():
    counts, _ = np.histogram(uniforms(3, "x", 100_000), bins=10, range=(0, 1))
    assert counts.sum() == 100_000
    assert np.abs(counts - 10_000).max() < 500  # five standard deviations


def test_a_choice_has_the_frequencies_of_its_weights():
    grid = (np.arange(1_000) + 0.5) / 1_000
    names, counts = np.unique(choose({"a": 1, "b": 2, "c": 7}, grid), return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {"a": 100, "b": 200, "c": 700}


def test_whole_quantiles_run_straight_between_their_points():
    assert whole_quantiles((0, 0.5, 1), (0, 10, 100), np.array([0.0, 0.26, 0.5, 0.999])).tolist() == [0, 5, 10, 99]
