"""Minibatches of tensors."""

import math

import torch


class Batches:
    """Minibatches of tensors that hold the same examples, to be iterated as often as one likes.

    Shapes: tensors (n, …); a batch is a tuple of (B, …), the last one with what is left.
    shuffle: a new order at each pass, drawn from torch's generator, which `fit` seeds.
    transform: changes the first tensor of each batch, (B, …) to (B, …), such as augmentation.
    Raises: ValueError if there is no example, the tensors differ in length, or batch_size < 1.
    """

    def __init__(self, *tensors, batch_size: int, shuffle: bool = False, transform=None):
        if not tensors or any(not isinstance(t, torch.Tensor) or t.ndim == 0 for t in tensors):
            raise ValueError(
                "Batches takes one or more tensors, with the examples along the first axis."
            )
        lengths = [len(tensor) for tensor in tensors]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"The tensors have {', '.join(map(str, lengths))} examples: they need equally many."
            )
        if lengths[0] == 0:
            raise ValueError("The tensors hold no example: there is nothing to make batches of.")
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}: a batch needs at least 1 example.")
        self.tensors, self.batch_size = tensors, batch_size
        self.shuffle, self.transform = shuffle, transform

    def __len__(self) -> int:
        return math.ceil(len(self.tensors[0]) / self.batch_size)

    def __iter__(self):
        n = len(self.tensors[0])
        order = torch.randperm(n) if self.shuffle else torch.arange(n)
        for rows in order.split(self.batch_size):
            first, *others = (tensor[rows] for tensor in self.tensors)
            yield (self.transform(first) if self.transform else first, *others)
