"""What PyTorch's commonest errors mean, in a sentence."""

import re

MEANT = {  # a pattern of the error: what it usually means, and what to do
    r"mat1 and mat2 shapes|Expected size for first two dimensions of batch2|"
    r"inconsistent tensor size|size mismatch, got input": "in left @ right, the last axis of left "
    "must be as long as the first of right's two last: print both shapes, and look for a missing "
    "`.mT`.",
    r"size of tensor a \(\d+\) must match": "axes are lined up from the right, and two of them "
    "differ in length: print both shapes, and give one tensor the axis that it lacks, with "
    "`keepdim=True` or `[:, None]`.",
    r"expanded size of the tensor|shape mismatch: value tensor": "what you write doesn't fit into "
    "the place where it should go: print both shapes.",
    r"Sizes of tensors must match|stack expects each|Tensors must have same number|"
    r"zero-dimensional tensor": "`cat` needs tensors that differ along its own axis only, `stack` "
    "needs equal shapes: print the shapes.",
    r"non-empty (TensorList|list of Tensors)": "the list that you join is empty: look at the "
    "loop that should fill it.",
    r"view size is not compatible": "after `.T`, `transpose` and `permute` the numbers don't lie "
    "in this order in memory: use `reshape` in place of `view`.",
    r"shape '.*' is invalid for input|don't multiply up to the size": "a new shape must hold as "
    "many numbers as the old one: multiply the sizes in each.",
    r"values to unpack": "there are more names on the left than values on the right, or fewer: "
    "print what is on the right, or its shape.",
    r"expected sequence of length": "the rows of a tensor are equally long, but those of your "
    "list are not: fill up the shorter ones.",
    r"einsum\(\)": "in `einsum` a letter is an axis, and has one length wherever it stands: write "
    "the shapes under the letters.",
    r"permute\(": "`permute` takes each axis of the tensor once: print its shape, and count them.",
    r"Expected target size|target batch_size|expected target dtype|target tensor expected|"
    r"target with class prob|1D target must": "for `cross_entropy`, logits are (n, classes), and "
    "targets n classes as whole numbers: flatten all other axes.",
    r"following scalar types: Long|used as indices must be|Expected dtype int": "indices must be "
    "whole numbers: convert with `.long()`.",
    r"Index tensor must have the same number": "`gather` and `scatter` take an index with as many "
    "axes as the tensor: give it one more with `[..., None]`.",
    r"shape of the mask": "a mask that picks must have the sizes of the axes that it picks from: "
    "print both shapes.",
    r"Given groups=|expected bias to be 1-dim": "a convolution's weight is (out, in, K, K), and "
    "its bias (out,): compare them with the channels of the picture.",
    r"Kernel size can't be|maximum size for tensor at": "the window is larger than what it moves "
    "over: print both sizes.",
    r"Dimension out of range|too many indices|mT is only supported|dims can not be smaller": "a "
    "tensor has fewer axes than you count: print its shape, and count axes from 0, or backwards "
    "from -1.",
    r"ind(ex|ices).* out of (range|bounds)|Target -?\d+ is out|index k out of": "you ask for more "
    "than there is: n entries have the indices 0 to n - 1.",
    r"single element can be converted to an index|interpreted as an integer|"
    r"must be tuple of ints|must be int, not float": "a whole number is needed: divide with `//`, "
    "and make a number of a tensor with `int`.",
    r"with two bool tensors|on a bool tensor": "masks are joined with `&`, `|` and `~`: to "
    "compute with one, convert it with `.to(x.dtype)`.",
    r"same dtype|expected scalar type|equal to src.dtype|result type .* can't be cast|"
    r"negative integer powers|floating point dtype can require|only supports floating|"
    r"not implemented for '(Long|Int|Bool)'|could not infer output dtype": "two types are mixed, "
    "or whole numbers are used where floating point is needed: convert with `.to(x.dtype)`, and "
    "make new tensors with `x.new_zeros(…)`.",
    r"boolean mask|condition to be a boolean|only implemented on integer and Bool": "a mask must "
    "hold True and False: make one by comparing, as in `ids != 0`, or with `.bool()`.",
    r"element 0 of tensors does not require|differentiated Tensors does not": "autograd doesn't "
    "track what you differentiate: call `requires_grad_()` before you compute, and leave out "
    "`no_grad`, `.item()` and `.detach()`.",
    r"created only for scalar outputs": "`backward` starts from one number: take the mean or the "
    "sum of the losses first.",
    r"not have been used in the graph": "the result doesn't depend on what you differentiate by: "
    "compute it from the very tensor on which you called `requires_grad_()`.",
    r"modified by an inplace|being modified inplace": "a tensor that the gradient needs was "
    "overwritten: write `x = x + …` in place of `x += …`, and collect parts in a list.",
    r"leaf Variable that requires grad": "a tensor that autograd tracks can't be changed in "
    "place: write `x = x + …` in place of `x += …`.",
    r"backward through the graph a second": "autograd frees its graph after one backward pass: "
    "ask for all gradients in one call.",
    r"numpy\(\) on Tensor|numpy\.ndarray": "numpy and PyTorch are mixed: numpy knows no "
    "gradients, so use torch's function of the same name.",
    r"only one element tensors|cannot be converted to Scalar": "`float`, `int`, `.item()` and "
    "Python's `math` take one number, but this tensor has several: use torch's functions.",
    r"Boolean value of Tensor": "`if`, `and` and `or` need one answer, but a tensor gives many: "
    "use `torch.where`, `&` and `|`.",
    r"return_types\.": "`max`, `min` and `sort` along an axis give values and their positions: "
    "take `.values`.",
    r"not tuple|tuple'|concatenate tuple": "something is a tuple where a tensor is needed: take "
    "the one value that you mean, and look for a comma too many.",
    r"'NoneType'|not NoneType": "something is None where a value is needed: look for a missing "
    "`return` in what you call.",
    r"'Tensor' object is not callable": "a tensor is called like a function: look for a missing "
    "`*`, or for a function whose name now belongs to a tensor.",
    r"'(int|float)' object is not (iterable|subscriptable)|0-d tensor|has no len": "a single "
    "number is used like a list: look for a missing `range`, or for an `.item()` or an index too "
    "many.",
    r"probability tensor contains": "probabilities are 0 or more, and never NaN: look for a "
    "missing softmax, or for 0 divided by 0.",
    r"not compiled with CUDA|NVIDIA driver|on the same device": "the book computes on the "
    "processor: leave out `.cuda()` and `.to('cuda')`, and make new tensors with `x.new_zeros(…)`.",
    r"maximum recursion": "your function calls itself without end: give it a case in which "
    "it stops.",
    r"'(list|int|float|bool)' object has no attribute|must be Tensor, not (float|int|list)|"
    r"must be tuple of Tensors|expected Tensor as element": "a plain number or list is used where "
    "a tensor is needed: use `torch.tensor`, or Python's `math` for one number.",
    r"takes .*positional argument|missing \d+ required|unexpected keyword": "a function is called "
    "with other arguments than it takes: compare the call with its `def` (the check calls yours "
    "as the page wrote it).",
}


def meant(raised: str) -> str:
    """One sentence on what an error usually means, or "" where it speaks for itself."""
    return next((says for pattern, says in MEANT.items() if re.search(pattern, raised)), "")
