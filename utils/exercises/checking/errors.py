"""What PyTorch's commonest errors mean, in a sentence."""

import re

MEANT = {  # a pattern of the error: what it usually means, and what to do
    r"mat1 and mat2 shapes|Expected size for first two dimensions of batch2|inconsistent tensor "
    r"size|size mismatch, got input": "in A @ B, the last axis of A must be as long as the first "
    "of B's two last axes: print both shapes, and look for a missing `.mT`.",
    r"size of tensor a \(\d+\) must match": "axes are lined up from the right, and two of them "
    "differ in length: print both shapes, and give one tensor the axis that it lacks, with "
    "`keepdim=True` or `[:, None]`.",
    r"expanded size of the tensor|shape mismatch: value tensor": "what you write doesn't fit into "
    "the place where it should go: print both shapes.",
    r"Sizes of tensors must match|stack expects each|Tensors must have same number|zero-dimensional"
    r" tensor": "`cat` needs tensors that differ along its own axis only, `stack` needs equal "
    "shapes: print the shapes.",
    r"shape '.*' is invalid for input": "a new shape must hold as many numbers as the old one: "
    "multiply the sizes in each.",
    r"Dimension out of range|too many indices": "a tensor has fewer axes than you count: print its "
    "shape, and count axes from 0, or backwards from -1.",
    r"ind(ex|ices).* out of (range|bounds)|Target -?\d+ is out|index k out of": "you ask for more "
    "than there is: n entries have the indices 0 to n - 1.",
    r"same dtype|expected scalar type|not implemented for '(Long|Int|Bool)'|could not infer output "
    r"dtype": "two types are mixed, or whole numbers are used where floating point is needed: "
    "convert with "
    "`.to(x.dtype)`, and make new tensors with `x.new_zeros(…)`.",
    r"boolean mask|condition to be a boolean|only implemented on integer and Bool": "a mask must "
    "hold True and False: make one by comparing, as in `ids != 0`, or with `.bool()`.",
    r"element 0 of tensors does not require|differentiated Tensors does not": "autograd doesn't "
    "track what you differentiate: call `requires_grad_()` before you compute, and leave out "
    "`no_grad`, `.item()` and `.detach()`.",
    r"leaf Variable that requires grad": "a tensor that autograd tracks can't be changed in place: "
    "write `x = x + …` in place of `x += …`.",
    r"backward through the graph a second": "autograd frees its graph after one backward pass: ask "
    "for all gradients in one call.",
    r"numpy\(\) on Tensor|numpy\.ndarray": "numpy and PyTorch are mixed: numpy knows no gradients, "
    "so use torch's function of the same name.",
    r"only one element tensors|cannot be converted to Scalar": "`float`, `int`, `.item()` and "
    "Python's `math` take one number, but this tensor has several: use torch's functions.",
    r"Boolean value of Tensor": "`if`, `and` and `or` need one answer, but a tensor gives many: use"
    " `torch.where`, `&` and `|`.",
    r"return_types\.": "`max`, `min` and `sort` along an axis give values and their positions: "
    "take `.values`.",
    r"not tuple|tuple'|concatenate tuple": "something is a tuple where a tensor is needed: "
    "take the one value that you mean, and look for a comma too many.",
    r"'NoneType'|not NoneType": "something is None where a value is needed: look for a missing "
    "`return` in what you call.",
    r"must be Tensor, not (float|int|list)|expected Tensor as element": "a plain number or list "
    "is used where a tensor is needed: use `torch.tensor`, or Python's `math` for one number.",
    r"takes .*positional argument|missing \d+ required|unexpected keyword": "a function is called "
    "with other arguments than it takes: compare the call with its `def` (the check calls yours as "
    "the page wrote it).",
}


def meant(raised: str) -> str:
    """One sentence on what an error usually means, or "" where it speaks for itself."""
    return next((says for pattern, says in MEANT.items() if re.search(pattern, raised)), "")
