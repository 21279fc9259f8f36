"""What the layers refuse: each check of an argument, once, with its sentence.

What has to read values, such as the largest id, is left out while `torch.compile` traces: there it
would stop the device once a step.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from numbers import Integral
from pathlib import Path

import torch
from torch import Tensor


def is_whole(x: object) -> bool:
    """Return whether this is a tensor of whole numbers."""
    kinds = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
    return isinstance(x, Tensor) and x.dtype in kinds


def described(x: object) -> str:
    """Return what to call a wrong argument: a tensor by shape and numbers, the rest by type."""
    return f"{tuple(x.shape)} of {x.dtype}" if isinstance(x, Tensor) else f"a {type(x).__name__}"


def check_sizes(**sizes: int) -> None:
    """Raise a ValueError if a size is not a whole number of at least 1."""
    for name, size in sizes.items():
        if not isinstance(size, Integral) or size < 1:
            raise ValueError(f"{name} is a whole number of at least 1, got {size!r}.")


def check_share(name: str, value: float) -> None:
    """Raise a ValueError if a share is not from 0 to below 1."""
    if not 0 <= value < 1:
        raise ValueError(f"{name} is a share from 0 to below 1, got {value}.")


def check_choice(name: str, value: object, known: object) -> None:
    """Raise a ValueError if a choice is not among those that are known."""
    if value not in known:
        raise ValueError(f"Unknown {name} {value!r}: choose one of {', '.join(map(repr, known))}.")


def check_at_least(least: int, name: str, value: int) -> None:
    """Refuse a size that is too small."""
    if value < least:
        raise ValueError(f"{name} has to be at least {least}, got {value}.")


# Day 1 --------------------------------------------------------------------------------------------


# Days 2 and 3 -------------------------------------------------------------------------------------


def check_sequences(x: Tensor, input_size: int, lengths: Tensor | None) -> None:
    """Raise a ValueError if there is nothing to read, or if sequences and lengths disagree."""
    if not isinstance(x, Tensor) or x.dim() != 3 or x.shape[2] != input_size:
        raise ValueError(f"Expected sequences (B, T, {input_size}), got {described(x)}.")
    batch_size, T, _ = x.shape
    if T == 0:
        raise ValueError(f"There is no step to read in an input of shape {tuple(x.shape)}.")
    if lengths is not None:
        check_lengths(lengths, batch_size, T)


def check_lengths(lengths: Tensor, batch_size: int, T: int) -> None:
    """Raise a ValueError if lengths do not fit sequences; a compiled step does not read them."""
    if not is_whole(lengths) or lengths.shape != (batch_size,):
        raise ValueError(
            f"Expected a tensor of {batch_size} whole lengths, one for each sequence, "
            f"got {described(lengths)}."
        )
    if batch_size == 0 or torch.compiler.is_compiling():
        return
    shortest, longest = int(lengths.min()), int(lengths.max())
    if shortest < 1:
        raise ValueError(
            f"A length is {shortest}, and a sequence without a step has no last state: "
            "leave empty sequences out of the batch."
        )
    if longest > T:
        raise ValueError(f"A length is {longest}, but the sequences have only {T} steps.")


def check_stack(layers: Sequence) -> None:
    """Raise a ValueError if there is no layer, or one does not fit onto the one below."""
    if not layers:
        raise ValueError("A stack needs at least one layer.")
    for below, above in zip(layers, layers[1:], strict=False):
        if below.output_size != above.input_size:
            raise ValueError(
                f"A layer with {above.input_size} inputs does not fit onto one with "
                f"{below.output_size} outputs."
            )


def check_states(state: Sequence, n_layers: int) -> None:
    """Raise a ValueError if there is not one state for each layer of a stack."""
    if len(state) != n_layers:
        raise ValueError(f"Expected {n_layers} layers' states, got {len(state)}.")


def check_ids(ids: Tensor, vocab_size: int) -> None:
    """Raise a ValueError if ids are not whole numbers (B, T) of the vocabulary."""
    if not is_whole(ids) or ids.dim() != 2:
        raise ValueError(f"Expected a tensor of whole ids (B, T), got {described(ids)}.")
    if torch.compiler.is_compiling() or not ids.numel():
        return
    smallest, largest = (int(end) for end in ids.aminmax())
    if smallest < 0 or largest >= vocab_size:
        raise ValueError(
            f"Ids run from 0 to {vocab_size - 1} in this vocabulary, got "
            f"{smallest if smallest < 0 else largest}."
        )


def check_library(library: object, dropout: float = 0.0, **expected: object) -> None:
    """Raise a ValueError if the library's recurrent layer computes something else.

    expected: num_layers and bidirectional; batch_first is always true here.
    """
    expected = {**expected, "batch_first": True}
    if getattr(library, "num_layers", 1) > 1:  # with one layer, the library's dropout does nothing
        expected["dropout"] = dropout
    found = {name: getattr(library, name, value) for name, value in expected.items()}
    if found != expected:
        wanted = ", ".join(f"{name}={value}" for name, value in expected.items())
        raise ValueError(f"Expected a layer of the library's with {wanted}, got {library}.")


# Choosing a symbol --------------------------------------------------------------------------------


def check_logits(logits: Tensor) -> None:
    """Raise a ValueError if a row of logits (..., V) leaves nothing to choose from."""
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"Expected logits (…, V), got {tuple(logits.shape)}: there is no symbol.")
    if not logits.max(dim=-1).values.isfinite().all():
        raise ValueError(
            "A row of logits has NaN or +inf, or -inf alone: there is no distribution to draw from."
        )


def check_temperature(tau: float, logits: Tensor) -> None:
    """Raise a ValueError if a temperature is not positive, or too small for these logits."""
    if not 0 < tau < math.inf:
        raise ValueError(
            f"The temperature is {tau}: it has to be positive; the limit at 0 is logits.argmax(-1)."
        )
    if not (logits / tau).max(dim=-1).values.isfinite().all():
        raise ValueError(
            f"The temperature is {tau}: the best of these logits, divided by it, is not finite; "
            "the limit at 0 is logits.argmax(-1)."
        )


# Day 4 --------------------------------------------------------------------------------------------


def check_target(target: Tensor, n_sources: int) -> None:
    """Raise a ValueError if there is not a target (B, T) of some symbols for each source."""
    if target.dim() != 2 or len(target) != n_sources or not target.shape[1]:
        raise ValueError(
            f"Expected a target of at least one symbol for each of {n_sources} sources, "
            f"got {tuple(target.shape)}."
        )


def check_mask(mask: Tensor, shape: tuple[int, ...]) -> None:
    """Raise a ValueError if a mask does not fit scores of this shape, (B, T, S) or (B, h, T, S)."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise ValueError(
            f"A mask is a boolean tensor, True where attention is allowed, got {kind}: compare "
            "first, as in `ids != PAD`."
        )
    if len(shape) == 4 and mask.dim() == 3 and mask.shape[0] > 1:  # B = h would fit in silence
        raise ValueError(
            f"A mask of three axes, {tuple(mask.shape)}, leaves open whether the first counts "
            "sequences or heads: write mask[:, None] for sequences, mask[None] for heads."
        )
    sizes = zip(reversed(mask.shape), reversed(shape), strict=False)
    if mask.dim() > len(shape) or any(ours not in (1, theirs) for ours, theirs in sizes):
        each = "source" if len(shape) == 3 else "sequence"
        raise ValueError(
            f"A mask of shape {tuple(mask.shape)} does not broadcast to the scores "
            f"{tuple(shape)}: one for each {each} is (B, {'1, ' * (len(shape) - 2)}S)."
        )


# Days 5 to 7 --------------------------------------------------------------------------------------


def check_heads(query: Tensor, key: Tensor, value: Tensor, shared: bool) -> None:
    """Raise a ValueError if these are no heads; shared: there may be fewer of keys and values."""
    fitting = (
        query.dim() == key.dim() == value.dim() == 4
        and 0 not in (*query.shape[1:], *key.shape[1:], *value.shape[1:])
        and query.shape[0] == key.shape[0]
        and query.shape[1] % key.shape[1] == 0
        and (shared or query.shape[1] == key.shape[1])
        and query.shape[3] == key.shape[3]
        and key.shape[:3] == value.shape[:3]
    )
    if not fitting:
        h, fewer = ("n_kv", ", h a multiple of n_kv,") if shared else ("h", "")
        shapes = ", ".join(str(tuple(x.shape)) for x in (query, key, value))
        raise ValueError(
            f"Expected queries (B, h, T, d_k), keys (B, {h}, S, d_k) and values (B, {h}, S, d_v), "
            f"none of them empty{fewer} got {shapes}."
        )


def check_head_counts(d_model: int, n_heads: int, n_kv_heads: int | None) -> None:
    """Raise a ValueError if heads do not divide the width, or those of keys those of queries."""
    if d_model % n_heads:
        raise ValueError(f"{n_heads} heads do not divide a width of {d_model}.")
    if n_heads % (n_kv_heads or n_heads):
        raise ValueError(f"{n_kv_heads} heads of keys do not divide {n_heads} of queries.")


def check_memory(
    x: Tensor,
    memory: Tensor | tuple[Tensor, Tensor] | None,
    d_model: int,
    d_memory: int,
    counts_positions: object,
) -> None:
    """Raise a ValueError if a layer of attention can't read these sequences and this memory."""
    check_sequences(x, d_model, None)
    if memory is None:
        if d_memory != d_model:
            raise ValueError(f"This layer reads a memory (B, S, {d_memory}): hand it in after x.")
        return
    if counts_positions:
        raise ValueError(
            "A cache and rotary positions count one sequence's own positions: leave them out "
            "where there is a memory."
        )
    if isinstance(memory, tuple):
        return
    check_sequences(memory, d_memory, None)
    if len(memory) != len(x):
        raise ValueError(f"{len(x)} sequences need as many memories, got {len(memory)}.")


def check_width(x: Tensor, width: int) -> None:
    """Raise a ValueError if what stands at each position has another width."""
    if x.shape[-1] != width:
        raise ValueError(f"Expected (..., {width}), got {tuple(x.shape)}.")


# Day 8: tokens ------------------------------------------------------------------------------------


# Day 8: classification ----------------------------------------------------------------------------


# Day 9 --------------------------------------------------------------------------------------------


def check_folder(folder: Path) -> None:
    """Raise a ValueError if there is no such folder."""
    if not folder.is_dir():
        raise ValueError(f"There is no folder {folder}: a published model is a folder of files.")


def check_stored_names(expected: Set[str], found: Set[str], folder: Path) -> None:
    """Raise a ValueError if weights are missing from a folder, or it holds others."""
    for what, names in (("lacks", expected - found), ("has also", found - expected)):
        if names:
            first, *more = sorted(names)
            others = f" and {len(more)} more" if more else ""
            raise ValueError(
                f"{folder} {what} the weight {first}{others}: its config.json tells of another "
                "model."
            )


def check_stored_shape(name: str, weight: Tensor, place: Tensor, folder: Path) -> None:
    """Raise a ValueError if a weight is of another shape than its place, or no real numbers."""
    if weight.shape != place.shape:
        raise ValueError(
            f"In {folder} the weight {name} is {tuple(weight.shape)}, and by its config.json it is "
            f"{tuple(place.shape)}."
        )
    if not weight.is_floating_point():
        raise ValueError(
            f"In {folder} the weight {name} is of {weight.dtype}, perhaps quantised: fetch the "
            "model in float16, bfloat16 or float32."
        )


def check_prompt(ids: Tensor) -> None:
    """Raise a ValueError if there is no token to go on from."""
    if not ids.shape[1]:
        raise ValueError("The prompt is empty: begin with one token at least.")


def check_context(n_read: int, max_len: int) -> None:
    """Raise a ValueError if a model is to read more tokens than its context holds."""
    if n_read > max_len:
        raise ValueError(
            f"{n_read} tokens are to be read, and the model's context is {max_len}: shorten the "
            "prompt, or write less."
        )


def check_nats(nats: float) -> None:
    """Raise a ValueError if this is no mean loss."""
    if not nats >= 0:
        raise ValueError(f"A mean loss of {nats} nats can't be: it is at least 0.")


def check_text_ids(ids: Tensor) -> None:
    """Raise a ValueError if these are not the ids (n,) of a text in which a token has a next."""
    if not is_whole(ids) or ids.dim() != 1 or len(ids) < 2:
        raise ValueError(f"Expected the ids (n,) of two tokens or more, got {described(ids)}.")


# Day 10 -------------------------------------------------------------------------------------------


def check_types(types: Tensor | None, ids: Tensor, are_known: bool) -> None:
    """Raise a ValueError if types are not one for each id, or a model tells none apart."""
    if types is None:
        return
    if not are_known:
        raise ValueError("This model doesn't tell two sentences apart: leave the types out.")
    if types.shape != ids.shape:
        raise ValueError(
            f"Expected a type for each of the ids {tuple(ids.shape)}, got {tuple(types.shape)}."
        )


def check_buckets(n_buckets: int, max_distance: int, is_causal: bool) -> None:
    """Raise a ValueError if these buckets can't hold the distances up to the largest."""
    check_sizes(n_buckets=n_buckets, max_distance=max_distance)
    sides = 1 if is_causal else 2
    if n_buckets % (2 * sides):
        raise ValueError(
            f"n_buckets is divided into near and far{'' if is_causal else ', behind and ahead'}, "
            f"so it is a multiple of {2 * sides}, got {n_buckets}."
        )
    near = n_buckets // sides // 2
    if max_distance <= near:
        raise ValueError(
            f"{n_buckets} buckets hold the distances below {near} one by one, so max_distance is "
            f"above {near}, got {max_distance}."
        )


def check_text_to_text(config: object) -> None:
    """Raise a ValueError if a T5 is to have what it has not, or begins with no symbol."""
    of_t5 = {"norm": "pre", "positions": None, "n_kv_heads": None, "target_vocab_size": None}
    for name, value in of_t5.items():
        if getattr(config, name) != value:
            raise ValueError(
                f"T5 has {name}={value!r}, got {getattr(config, name)!r}: leave {name} out."
            )
    if not isinstance(config.start, Integral) or not 0 <= config.start < config.vocab_size:
        raise ValueError(
            f"The start is a symbol from 0 to {config.vocab_size - 1}, got {config.start!r}."
        )


def check_pieces(
    ids: Mapping[str, int], special: Iterable[str], vocab_size: int, whole: bool, file: Path
) -> None:
    """Raise a ValueError if a vocabulary lacks a piece, or numbers more than a model knows.

    whole: it has to number as many.
    """
    if missing := [piece for piece in special if piece not in ids]:
        raise ValueError(f"{file} lacks {missing[0]!r}: it is cut short, or of another kind.")
    last = max(ids.values())
    if last >= vocab_size or (whole and len(ids) != vocab_size):
        raise ValueError(
            f"{file} has {len(ids)} pieces up to number {last}, and the config.json beside it "
            f"tells of {vocab_size}: fetch both again."
        )


def check_dice(ids: Tensor, dice: tuple[Tensor, ...]) -> None:
    """Raise a ValueError if ids are not (B, T), or dice are not one for each of them."""
    if ids.dim() != 2:
        raise ValueError(f"Expected ids (B, T), got {tuple(ids.shape)}.")
    shapes = [tuple(of.shape) for of in dice]
    if any(shape != tuple(ids.shape) for shape in shapes):
        raise ValueError(
            f"Expected dice for each of the ids {tuple(ids.shape)}, got {shapes}: cast them for "
            "the shape of the ids."
        )


def check_two_parts(document: Sequence[Sized], length: int) -> None:
    """Raise a ValueError if two neighbouring sentences can't be drawn of a document."""
    if len(document) < 2:
        raise ValueError(
            f"Two parts need a document of at least 2 sentences, got {len(document)}: leave it out."
        )
    longest = max(len(a) + len(b) for a, b in itertools.pairwise(document))
    if longest > length:
        raise ValueError(
            f"Two neighbouring sentences have {longest} ids together, and {length} fit: allow "
            "more, or leave them out."
        )


def check_asked(x: Tensor, target: Tensor, asked: Tensor) -> None:
    """Raise a ValueError if targets are not one for each vector (B, T, D), or none is asked for."""
    if x.dim() != 3 or x.shape[:2] != target.shape:
        raise ValueError(
            f"Expected vectors (B, T, D) and targets (B, T), got {tuple(x.shape)} and "
            f"{tuple(target.shape)}."
        )
    if not asked.any():
        raise ValueError("No word is asked for, so there is no loss: hide a larger share.")


def check_rank(rank: int, most: int) -> None:
    """Raise a ValueError if a product of two thin matrices can't have this rank."""
    if not isinstance(rank, Integral) or not 1 <= rank <= most:
        raise ValueError(f"The rank is a whole number from 1 to {most} here, got {rank!r}.")


def check_plain(layer: object, kind: type) -> None:
    """Raise a ValueError if a layer is of a kind that may compute something else."""
    if type(layer) is not kind:
        raise ValueError(
            f"Expected a plain {kind.__name__}, got a {type(layer).__name__}: merge or take off "
            "first what was put on it."
        )


def check_no_memory(memory: object) -> None:
    """Raise a ValueError if a layer of self-attention alone is to look at another sequence."""
    if memory is not None:
        raise ValueError("This layer looks at its own sequence alone: leave the memory out.")


def check_several(layers: Sequence[object]) -> None:
    """Raise a ValueError if blocks share a layer."""
    if len(set(map(id, layers))) < len(layers):
        raise ValueError("Blocks share their heads here, and a gate is of one block.")


def check_gates(gates: Tensor, n_heads: Sequence[int]) -> None:
    """Raise a ValueError if there is not one gate for each head of each block."""
    L, h = len(n_heads), max(n_heads)
    if min(n_heads) < h or gates.dim() not in (2, 3) or gates.shape[-2:] != (L, h):
        raise ValueError(
            f"Expected a gate for each head, (L, h) or (B, L, h), where blocks have "
            f"{', '.join(map(str, n_heads))} heads, got {tuple(gates.shape)}."
        )


def check_evaluates(model: object) -> None:
    """Raise a ValueError if a model is in training mode, so that dropout would have a say."""
    if model.training:
        raise ValueError("The model is in training mode: call its eval() first.")


def check_kept(kept: Sequence[int], n_heads: int, n_kv_heads: int) -> None:
    """Raise a ValueError if these are not some of a layer's heads, or the heads share keys."""
    if n_kv_heads != n_heads:
        raise ValueError("Heads that share keys can't go one by one.")
    if not kept or not set(kept) <= set(range(n_heads)) or len(set(kept)) < len(kept):
        raise ValueError(
            f"Keep at least one of the heads 0 to {n_heads - 1}, each once, got {list(kept)}."
        )


def check_roundable(weight: Tensor, bits: int) -> None:
    """Raise a ValueError if this is no matrix of finite numbers, or there are no such bits."""
    if weight.dim() != 2 or not weight.is_floating_point() or not weight.numel():
        raise ValueError(f"Expected a matrix of real numbers, got {described(weight)}.")
    if not weight.isfinite().all():
        raise ValueError("A weight is NaN or infinite: no scale holds it.")
    if not isinstance(bits, Integral) or not 2 <= bits <= 8:
        raise ValueError(f"bits is a whole number from 2 to 8, got {bits!r}.")


def check_exact_products(is_exact: bool) -> None:
    """Raise a ValueError if sums of products in int8 run over on this processor."""
    if not is_exact:
        raise ValueError(
            "Here PyTorch adds products of int8 in 16 bits, where sums run over: widen the weights "
            "instead."
        )


def check_noise(n: int, share: float, mean: float, least: int) -> None:
    """Raise a ValueError if a text is too short to hide spans in, or nothing says how many."""
    if n < least:
        raise ValueError(f"A text of length {n} is too short: it takes {least} to hide some of it.")
    check_share("share", share)
    if not 1 <= mean < math.inf:
        raise ValueError(f"The mean length of a span is at least 1, got {mean}.")


def check_spans(n: int, spans: Sequence[tuple[int, int]]) -> None:
    """Raise a ValueError if spans are not in order, overlap, or leave a text of n words."""
    before = 0
    for start, end in spans:
        if not before <= start <= end <= n:
            raise ValueError(
                f"The span from {start} to {end} doesn't fit behind {before} in a text of {n}: "
                "spans are in order, don't overlap, and lie in the text."
            )
        before = end


def check_sentinels(ids: Sequence[int], sentinels: Sequence[int], least: int) -> None:
    """Raise a ValueError if there are too few sentinels, or a text has one."""
    if len(sentinels) < least:
        raise ValueError(
            f"{least - 1} spans and the end take {least} sentinels, got {len(sentinels)}."
        )
    if taken := [symbol for symbol in ids if symbol in sentinels]:
        raise ValueError(f"The text has {taken[0]}, which is a sentinel: give them other numbers.")


def check_answer(target: Sequence[int], sentinels: Sequence[int]) -> None:
    """Raise a ValueError if a target tells a span twice."""
    counts = Counter(symbol for symbol in target if symbol in sentinels)
    if twice := [sentinel for sentinel, count in counts.items() if count > 1]:
        raise ValueError(f"The target has the sentinel {twice[0]} twice: which one counts?")


def check_logits_alike(student_logits: Tensor, teacher_logits: Tensor) -> None:
    """Raise a ValueError if student and teacher do not say of the same words what they expect."""
    if student_logits.dim() != 2 or student_logits.shape != teacher_logits.shape:
        raise ValueError(
            "Expected logits (n, V) of student and teacher alike, got "
            f"{tuple(student_logits.shape)} and {tuple(teacher_logits.shape)}."
        )
    if not len(student_logits):
        raise ValueError("No word is asked for, so there is no loss: hide a larger share.")


def check_vectors_alike(x_student: Tensor, x_teacher: Tensor, real: Tensor) -> None:
    """Raise a ValueError if two models' vectors can't be compared where something is real."""
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


def check_even(n_layers: int) -> None:
    """Raise a ValueError if a student can't have half of the blocks."""
    if n_layers % 2:
        raise ValueError(
            f"A student has half of its teacher's blocks, and {n_layers} can't be halved: take a "
            "teacher with an even number of them."
        )
