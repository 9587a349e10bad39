import hashlib

import numpy as np
import pytest

import sfumato as sf
from sfumato.datasets.shapes import SHAPES, shapes
from sfumato.errors import ParameterError


@pytest.fixture(scope="module")
def made():
    return shapes(1_500)


def test_images_are_whole_levels_of_gray_with_a_label_each(made):
    assert made.images.shape == (1_500, 16, 16)
    assert made.images.dtype == np.uint8
    assert made.labels.dtype == np.int64
    assert made.names == SHAPES == sf.datasets.SHAPES


def test_each_shape_is_as_likely_as_any_other(made):
    counts = np.bincount(made.labels, minlength=len(SHAPES))
    assert np.abs(counts - 150).max() < 70  # six standard deviations


def test_the_seed_decides_the_images_on_every_platform(made):
    digest = hashlib.sha256(made.images.tobytes() + made.labels.astype("<i8").tobytes()).hexdigest()
    assert digest == "a760b40208c3a20b405e31f4f4a52887113348c24f3e1a903a3b4dc9abd92805"
    assert not np.array_equal(shapes(10, seed=1).images, shapes(10, seed=2).images)


def test_a_larger_set_begins_with_the_images_of_a_smaller_one(made):
    smaller = shapes(1_100)
    assert np.array_equal(made.images[:1_000], smaller.images[:1_000])
    assert np.array_equal(made.images[:1_100], smaller.images)
    assert np.array_equal(made.labels[:1_100], smaller.labels)


def test_the_mean_image_of_a_shape_shows_it():
    wide = shapes(3_000, side=17)
    middle, corner = wide.images[:, 8, 8].astype(float), wide.images[:, 0, 0].astype(float)
    lighter = {name: (middle - corner)[wide.labels == at].mean() for at, name in enumerate(SHAPES)}
    assert min(lighter[name] for name in ("disk", "square", "triangle", "plus", "cross")) > 50
    assert max(abs(lighter[name]) for name in ("ring", "frame")) < 15


def test_rows_and_columns_are_each_other_on_their_side(made):
    steps = np.abs(np.diff(made.images.astype(float), axis=1)).mean(axis=(1, 2))
    sideways = np.abs(np.diff(made.images.astype(float), axis=2)).mean(axis=(1, 2))
    of = {name: (steps - sideways)[made.labels == SHAPES.index(name)].mean() for name in ("rows", "columns")}
    assert of["rows"] > 3
    assert of["columns"] < -3


def test_no_two_images_have_the_same_noise(made):
    bounds = made.images[:, 0, :].reshape(len(made.images), -1)
    assert len(np.unique(bounds, axis=0)) == len(bounds)


@pytest.mark.parametrize("n", [0, 1.5, 100_001])
def test_a_number_of_images_is_a_whole_number_in_range(n):
    with pytest.raises(ParameterError, match="n"):
        shapes(n)


@pytest.mark.parametrize("side", [7, 65, 16.0])
def test_a_side_is_a_whole_number_in_range(side):
    with pytest.raises(ParameterError, match="side"):
        shapes(10, side=side)
