"""Day 6: how the paper trains: smoothed labels, and a learning rate that warms up.

Shapes: logits (B, T, V), target (B, T) ids, padded with PAD behind their ends.
"""

import torch
from torch import Tensor

from utils.arguments import check_share, check_sizes
from utils.seq2seq import PAD, sequence_loss


def label_smoothing_loss(logits: Tensor, target: Tensor, smoothing: float = 0.1) -> Tensor:
    """Return the cross-entropy with labels of which a share s is spread over the vocabulary.

    The label is q(k) = (1 - s)·[k = y] + s/(V - 1), and 0 for PAD, which no target is (after
    Szegedy et al., 2016, §7; Vaswani et al., 2017, §5.4). The mean is over what is not padding.
    With s = 0 it is `sequence_loss`.
    Raises: ValueError if the share is not from 0 to below 1, or as `sequence_loss` does.
    """
    check_share("smoothing", smoothing)
    loss = sequence_loss(logits, target)
    if smoothing == 0:  # a logit of -inf times 0 would be NaN
        return loss
    log_p = logits[target != PAD].log_softmax(dim=-1)  # (symbols that are not padding, V)
    possible = torch.arange(logits.shape[-1], device=logits.device) != PAD
    return (1 - smoothing) * loss - smoothing * log_p[:, possible].mean()


def warmup_rate(step: int, d_model: int, warmup: int = 4000) -> float:
    """Return the learning rate of a step: it rises in a line, then falls as 1/√step.

    d_model^-0.5 · min(step^-0.5, step · warmup^-1.5) (Vaswani et al., 2017, eq. 3). Steps count
    from 1: as a factor in `LambdaLR`, which counts from 0, it is `warmup_rate(step + 1, …)`.
    Raises: ValueError if step, d_model or warmup is below 1.
    """
    check_sizes(step=step, d_model=d_model, warmup=warmup)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
