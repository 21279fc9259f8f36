"""Day 11: a small model learns from a large one, which knows more than the right word.

Shapes: logits (n, V) are of the n words that are asked for. Of a batch, vectors are (B, T, D).
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from utils.arguments import check_temperature, described
from utils.pretraining.encoders import MaskedLanguageModel, PairEmbedding


def soft_target_loss(student_logits: Tensor, teacher_logits: Tensor, tau: float) -> Tensor:
    """Mean of τ² · KL(p ‖ q) over words, where p is what the teacher says, and q the student.

    Both are softmaxes of logits / τ, so that one sees of all words how likely they are. Gradients
    fall as 1/τ², for which τ² makes up (Hinton et al., 2015, §2). The teacher gets none.

    Shapes: logits (n, V) of both, of the words that are asked for.
    Raises: ValueError if the shapes are not alike, no word is asked for, or the temperature is not
        above 0.
    """
    if student_logits.dim() != 2 or student_logits.shape != teacher_logits.shape:
        raise ValueError(
            "Expected logits (n, V) of student and teacher alike, got "
            f"{tuple(student_logits.shape)} and {tuple(teacher_logits.shape)}."
        )
    if not len(student_logits):
        raise ValueError("No word is asked for, so there is no loss: hide a larger share.")
    check_temperature(tau, teacher_logits)
    p = (teacher_logits.detach() / tau).softmax(dim=1)
    log_q = (student_logits / tau).log_softmax(dim=1)
    return tau**2 * F.kl_div(log_q, p, reduction="batchmean")


def cosine_loss(x_student: Tensor, x_teacher: Tensor, real: Tensor) -> Tensor:
    """Mean of 1 - cos of the angle between two models' last vectors (Sanh et al., 2019, §2).

    Shapes: vectors (B, T, D) of both, and what of them is real, boolean (B, T). The teacher gets no
    gradient.
    Raises: ValueError if the shapes do not fit, or nothing is real.
    """
    if x_student.dim() != 3 or x_student.shape != x_teacher.shape:
        raise ValueError(
            "Expected vectors (B, T, D) of student and teacher alike, got "
            f"{tuple(x_student.shape)} and {tuple(x_teacher.shape)}."
        )
    if real.dtype != torch.bool or real.shape != x_student.shape[:2]:
        raise ValueError(
            f"Expected a boolean (B, T) = {tuple(x_student.shape[:2])}, True where something is "
            f"real, got {described(real)}."
        )
    if not real.any():
        raise ValueError("Nothing is real here, all is padding: there is no loss.")
    cos = F.cosine_similarity(x_student[real], x_teacher[real].detach(), dim=1)
    return (1 - cos).mean()


def every_second(blocks: Sequence[nn.Module]) -> list[nn.Module]:
    """Return copies of every second block, from the first on (Sanh et al., 2019, §3).

    The published script takes BERT's blocks 0, 2, 4, 7, 9 and 11.
    """
    return [deepcopy(block) for block in blocks[::2]]


def student_of(
    teacher: MaskedLanguageModel,
    choose: Callable[[list[nn.Module]], Sequence[nn.Module]] = every_second,
) -> MaskedLanguageModel:
    """Begin a student with some of its teacher's blocks, and with all else that it has (ibid.).

    It shares nothing with the teacher: embedding and head are copies, too. Of BERT's parts two are
    left out: what tells sentences apart, and the pooler.

    choose: makes the student's blocks of a list of the teacher's.
    Raises: ValueError if the teacher's blocks can't be halved.
    """
    if teacher.config.n_layers % 2:
        raise ValueError(
            f"A student has half of its teacher's blocks, and {teacher.config.n_layers} can't be "
            "halved: take a teacher with an even number of them."
        )
    student = deepcopy(teacher)
    student.encoder.blocks = nn.ModuleList(choose(list(teacher.encoder.blocks)))
    student.config = replace(teacher.config, n_layers=len(student.encoder.blocks))
    student.pool = student.order = None
    if isinstance(student.encoder.embedding.symbols, PairEmbedding):
        student.encoder.embedding.symbols.types = None
    return student.requires_grad_().train()
