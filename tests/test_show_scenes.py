"""Pictures beside their sentences: each number is where its picture and its sentence are."""

import matplotlib.pyplot as plt
import pytest
import torch

from utils.show.scenes import decided, fits

pytestmark = pytest.mark.usefixtures("closed")

PICTURES = torch.rand(3, 3, 8, 8, generator=torch.Generator().manual_seed(0))


def test_rows_are_pictures_and_columns_are_sentences():
    cosines = torch.arange(6.0).view(3, 2) / 6
    ax = fits(PICTURES, ["a red one", "two"], cosines, marks=["new", "known", "new"])
    (mesh,) = ax.collections
    found = torch.tensor(mesh.get_array().tolist()).view(3, 2)
    assert torch.allclose(found, cosines.double().float())
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a\nred\none", "two"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["new", "known", "new"]
    shown = [child.images[0].get_array() for child in ax.child_axes]
    assert [tuple(image.shape) for image in shown] == [(8, 8, 3)] * 3
    assert torch.equal(torch.as_tensor(shown[1]).permute(2, 0, 1), PICTURES[1])


def test_cosines_of_other_pictures_and_missing_marks_are_refused():
    with pytest.raises(ValueError, match=r"3 pictures and 2 sentences: .*\(2, 3\)"):
        fits(PICTURES, ["one", "two"], torch.zeros(2, 3), marks=["", "", ""])
    with pytest.raises(ValueError, match="3 pictures, but 2 marks"):
        fits(PICTURES, ["one", "two"], torch.zeros(3, 2), marks=["new", "known"])


def test_maps_stand_beside_the_picture_on_one_scale():
    maps = {"one": torch.eye(2), "two": -2 * torch.eye(2), "three": torch.zeros(2, 2)}
    figure = decided(PICTURES[0], maps, label="fall")
    axes = [ax for ax in figure.axes if ax.images]
    assert [ax.get_title() for ax in axes] == ["", "one", "two", "three"]
    assert {ax.images[0].get_clim() for ax in axes[1:]} == {(-2.0, 2.0)}
    assert axes[1].images[0].get_array().tolist() == [[1, 0], [0, 1]]
    plt.close(figure)
