"""Features of images: those of the wavelets they claim to be, of one image alone, and made without any data."""

from __future__ import annotations

import numpy as np
import pytest

import sordino as so
from sordino.errors import ArgumentError
from sordino.learn.features import image_features as module
from sordino.learn.features.image_features import on_grid
from sordino.learn.features.made_up_images import strokes
from sordino.learn.features.scattering import AT_ONCE, _bank, as_pixels

DICE = np.random.default_rng(3)
IMAGES = DICE.integers(0, 256, size=(AT_ONCE + 40, 12, 12), dtype=np.uint8)


def convolved(image: np.ndarray, spectrum: np.ndarray) -> np.ndarray:
    """Return a circular convolution by its definition, in float64: a sum over all shifts."""
    kernel = np.fft.ifft2(spectrum.astype(np.complex128))
    found = np.zeros(image.shape, dtype=complex)
    for row, column in np.ndindex(*image.shape):
        found += image[row, column] * np.roll(kernel, (row, column), (0, 1))
    return found


def test_scattering_is_what_its_definition_says() -> None:
    bank = _bank(12, 12, 2, 4)
    image = np.pad(IMAGES[0] / 255, bank.padding, mode="symmetric")
    inside = slice(4, 4 + 12, 4)

    def averaged(signal: np.ndarray) -> np.ndarray:
        return convolved(signal, bank.average).real[inside, inside]

    fine, coarse = bank.wavelets
    once = [np.abs(convolved(image, wave)) for wave in fine]
    expected = [averaged(image), *(averaged(each) for each in once)]
    expected += [averaged(np.abs(convolved(image, wave))) for wave in coarse]
    expected += [averaged(np.abs(convolved(each, wave))) for each in once for wave in coarse]
    found = so.learn.scattering(IMAGES[:1], angles=4, groups=None)[0]
    # Coarse signals are kept at every second pixel: what folds over is small for these wavelets, not nothing.
    np.testing.assert_allclose(found[:5], expected[:5], atol=1e-5)
    np.testing.assert_allclose(found, expected, atol=6e-3)
    assert np.mean(found[5:]) == pytest.approx(np.mean(expected[5:]), rel=0.02)


def test_wavelets_have_no_sum_and_averages_have_one() -> None:
    bank = _bank(28, 28, 2, 8)
    assert abs(bank.average[0, 0] - 1) < 1e-3
    for waves in bank.wavelets:
        assert np.abs(waves[:, 0, 0]).max() < 1e-6
        assert np.abs(waves).max() > 0.5


def test_a_shift_changes_features_less_than_pixels() -> None:
    images = strokes(60, 28, 28)
    moved = np.roll(images, 1, axis=2)
    found, later = (so.learn.scattering(each, groups=None).reshape(60, -1) for each in (images, moved))
    of_features = np.linalg.norm(found - later) / np.linalg.norm(found)
    of_pixels = np.linalg.norm(images - moved) / np.linalg.norm(images)
    assert of_features < 0.7 * of_pixels


def test_groups_of_each_image_have_mean_0_and_deviation_1() -> None:
    found = so.learn.scattering(IMAGES[:20], groups=9).reshape(20, 9, -1)
    assert np.abs(found.mean(axis=2)).max() < 1e-4
    assert (found.std(axis=2) < 1.001).all()
    assert found.std(axis=2).max() > 0.9


@pytest.mark.parametrize("features", [so.learn.scattering, lambda images: so.learn.image_features(images, keep=40)])
def test_features_of_an_image_are_the_same_bits_whoever_else_is_there(features: object) -> None:
    assert callable(features)
    together = features(IMAGES)
    for kept in (slice(1, None), slice(77, 78), slice(5, AT_ONCE + 3), slice(None, None, 7)):
        assert np.array_equal(together[kept], features(IMAGES[kept]))


def test_what_is_no_number_concerns_its_own_image_alone() -> None:
    images = as_pixels(IMAGES)
    images[3, 2, 2], images[5, 0, 0] = np.nan, np.float32(3e38)
    found = so.learn.image_features(images, keep=40)
    others = np.delete(np.arange(len(images)), [3, 5])
    assert np.isnan(found[3]).all()
    assert np.array_equal(found[others], so.learn.image_features(images[others], keep=40))


def test_products_are_exact_in_any_order() -> None:
    basis = module._basis(12, 12)
    features = on_grid(so.learn.scattering(IMAGES).reshape(len(IMAGES), -1), 10) - basis.mean
    order = DICE.permutation(features.shape[1])
    assert np.array_equal(features @ basis.turned, features[:, order] @ basis.turned[order])
    assert np.abs(features).max() < 2**6
    assert np.abs(basis.turned).max() < 2**2


def test_features_of_made_up_images_are_uncorrelated() -> None:
    found = so.learn.image_features(strokes(6000, 12, 12), keep=30).astype(np.float64)
    spread = np.cov(found.T)
    apart = spread - np.diag(np.diag(spread))
    assert np.abs(apart).max() < 0.01
    assert (np.diff(np.diag(spread)) < 1e-3).all()
    assert np.diag(spread).max() < 1


def test_bytes_are_255ths() -> None:
    assert np.array_equal(so.learn.scattering(IMAGES[:3]), so.learn.scattering(IMAGES[:3].astype(np.float32) / 255))


@pytest.mark.parametrize(
    ("images", "words", "said"),
    [
        (np.zeros((3, 12)), {}, "images, height, width"),
        (np.zeros((3, 12, 12), dtype=complex), {}, "numbers"),
        (np.zeros((3, 2, 12)), {}, "at least 4 pixels"),
        (np.zeros((3, 12, 12)), {"groups": 7}, "81"),
        (np.zeros((3, 12, 12)), {"scales": 0}, "scales"),
    ],
)
def test_what_cannot_be_scattered_is_refused(images: np.ndarray, words: dict[str, int], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        so.learn.scattering(images, **words)


def test_too_large_and_too_many_are_refused() -> None:
    with pytest.raises(ArgumentError, match="decorrelated"):
        so.learn.image_features(np.zeros((1, 64, 64)))
    with pytest.raises(ArgumentError, match="keep"):
        so.learn.image_features(IMAGES[:1], keep=10_000)
