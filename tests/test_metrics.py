"""Accuracy, confusions and the spread over seeds, on numbers counted by hand."""

import pytest
import torch

from utils.lab.metrics import accuracy, confusion_matrix, mean_and_spread

LOGITS = torch.tensor([[9.0, 0, 0], [0, 9, 0], [0, 9, 0], [2, 1, 0], [0, 1, 2]])
TARGETS = torch.tensor([0, 1, 2, 1, 2])


def test_accuracy_counts_the_largest_output():
    assert accuracy(LOGITS, TARGETS) == 3 / 5
    assert accuracy(LOGITS.softmax(dim=-1), TARGETS) == 3 / 5
    assert isinstance(accuracy(LOGITS, TARGETS), float)


def test_accuracy_of_sequences_takes_the_last_axis_for_the_classes():
    logits = torch.eye(3)[torch.tensor([[0, 1], [2, 2], [1, 0], [0, 0]])]  # (B=4, T=2, V=3)
    assert accuracy(logits, torch.tensor([[0, 1], [2, 1], [0, 0], [1, 1]])) == 4 / 8


@pytest.mark.parametrize("measure", [accuracy, confusion_matrix])
@pytest.mark.parametrize("shape", [(5, 1), (1,), (4,)])
def test_targets_of_another_shape_are_not_broadcast(measure, shape):
    with pytest.raises(ValueError, match=r"need targets of shape \(5,\), not"):
        measure(LOGITS, torch.zeros(shape, dtype=torch.int64))


def test_confusions_have_true_classes_as_rows_and_keep_absent_ones():
    logits = torch.cat([LOGITS, torch.full((5, 1), -1.0)], dim=1)  # a fourth class, never seen
    expected = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]])
    counts = confusion_matrix(logits, TARGETS)
    assert counts.dtype == torch.int64
    assert torch.equal(counts, expected)


def test_spread_is_the_sample_standard_deviation():
    result = mean_and_spread([0.98, 0.99, torch.tensor(1.0, dtype=torch.float64)])
    assert result == pytest.approx((0.99, 0.01))
    assert f"{result:.1%}" == "99.0 ± 1.0 %"
    assert f"{result:.3f}" == "0.990 ± 0.010"


@pytest.mark.parametrize("values", [[], [0.5]])
def test_a_single_run_has_no_spread(values):
    with pytest.raises(ValueError, match="two or more"):
        mean_and_spread(values)
