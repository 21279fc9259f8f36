"""Day 15: what a GPT holds and what it costs to train: its weights and operations, part by part.

N counts weights, D tokens, C operations; of a product, each multiplication and each addition is an
operation. The models are `DecoderOnly`, with one table for input and output.
"""

from utils.arguments import check_sizes
from utils.transformer import TransformerConfig


def weights_by_part(config: TransformerConfig) -> dict[str, int]:
    """Count a GPT's weights, exactly: their sum is N with all that is learned.

    Raises: ValueError if the table is not shared, or positions are learned.
    """
    check_gpt(config)
    D, F, L = config.d_model, config.d_ff, config.n_layers
    norms = 2 * L + (config.norm == "pre" if config.last_norm is None else config.last_norm)
    return {
        "embedding": config.vocab_size * D,
        "queries, keys, values": L * (D + 1) * (D + 2 * width_of_keys(config)),
        "output of attention": L * (D + 1) * D,
        "feed-forward": L * (2 * D * F + F + D),
        "norms": norms * 2 * D,
    }


def weights_of_blocks(d_model: int, n_layers: int, d_ff: int | None = None) -> int:
    """Return N as Kaplan et al. count it (2020, table 1 and eq. 2.1): matrices of blocks alone.

    2 · D · L · (2 · D + F), which is 12 · L · D² for F = 4 · D: without embeddings, biases, norms.
    Raises: ValueError if a size is below 1.
    """
    d_ff = 4 * d_model if d_ff is None else d_ff
    check_sizes(d_model=d_model, n_layers=n_layers, d_ff=d_ff)
    return 2 * d_model * n_layers * (2 * d_model + d_ff)


def operations_forward(config: TransformerConfig, T: int) -> dict[str, int]:
    """Count the operations of the products with which a GPT reads T tokens at once, exactly.

    Position t looks at itself and what is before, so T (T + 1) / 2 pairs are scored. To look a row
    up costs nothing; norms, the softmax and other things done element by element are left out.
    Raises: ValueError if T is below 1, or as `weights_by_part` does.
    """
    check_gpt(config)
    check_sizes(T=T)
    D, F, L = config.d_model, config.d_ff, config.n_layers
    pairs = T * (T + 1) // 2
    return {
        "queries, keys, values": L * 2 * T * D * (D + 2 * width_of_keys(config)),
        "scores": L * 2 * pairs * D,
        "weighted sums": L * 2 * pairs * D,
        "output of attention": L * 2 * T * D * D,
        "feed-forward": L * 2 * T * 2 * D * F,
        "logits": 2 * T * D * config.vocab_size,
    }


def operations_of_training(config: TransformerConfig, T: int) -> int:
    """Count the operations of one step of training on T tokens, forward and backward, exactly.

    Backward, each product has two: the gradient of what went in, and that of the weights. Fused
    attention makes its scores again, so it does five products where it did two.
    Raises: ValueError as `operations_forward` does.
    """
    parts = operations_forward(config, T)
    again = parts["scores"]
    return 3 * sum(parts.values()) + again


def operations_kaplan(config: TransformerConfig, T: int) -> dict[str, int]:
    """Count the forward operations of T tokens as Kaplan et al. do (2020, table 1).

    Their rows for one token, times T; "mask" has the weighted sums alone, of T keys at each
    position. Their N and C leave the first and the last row out.
    Raises: ValueError as `operations_forward` does.
    """
    check_gpt(config)
    check_sizes(T=T)
    D, F, L = config.d_model, config.d_ff, config.n_layers
    return {
        "embed": T * 4 * D,
        "queries, keys, values": T * 2 * L * D * 3 * D,
        "mask": T * 2 * L * T * D,
        "project": T * 2 * L * D * D,
        "feed-forward": T * 2 * L * 2 * D * F,
        "de-embed": T * 2 * D * config.vocab_size,
    }


def operations_hoffmann(config: TransformerConfig, T: int) -> dict[str, int]:
    """Count the forward operations of T tokens as Hoffmann et al. do (2022, appendix F).

    The embedding is a product with V columns there, and all T² pairs are scored.
    Raises: ValueError as `operations_forward` does.
    """
    check_gpt(config)
    check_sizes(T=T)
    D, F, L = config.d_model, config.d_ff, config.n_layers
    return {
        "embeddings": 2 * T * config.vocab_size * D,
        "queries, keys, values": L * 2 * 3 * T * D * D,
        "scores": L * 2 * T * T * D,
        "softmax": L * 3 * config.n_heads * T * T,
        "weighted sums": L * 2 * T * T * D,
        "output of attention": L * 2 * T * D * D,
        "feed-forward": L * 2 * T * 2 * D * F,
        "logits": 2 * T * D * config.vocab_size,
    }


def six_n_d(N: float, D: float) -> float:
    """Return C = 6 · N · D, the rule for the operations of training (Kaplan et al., 2020, §2.1).

    For each token, a weight is multiplied and added once forward (2 operations) and twice backward
    (4 more).
    Raises: ValueError if N or D is not above 0.
    """
    check_positive(N=N, D=D)
    return 6 * N * D


def width_of_keys(config: TransformerConfig) -> int:
    """How wide the keys of all heads are together."""
    heads = config.n_heads if config.n_kv_heads is None else config.n_kv_heads
    return config.d_model // config.n_heads * heads


def check_gpt(config: TransformerConfig) -> None:
    """Raise a ValueError if the counts here are not those of such a model."""
    if not config.tied or config.target_vocab_size is not None or config.positions == "learned":
        raise ValueError(
            "The counts are those of a GPT with one table for input and output, and no learned "
            "positions."
        )


def check_positive(**values: float) -> None:
    """Raise a ValueError if one of some numbers is not above 0 and finite."""
    for name, value in values.items():
        if not 0 < value < float("inf"):
            raise ValueError(f"{name} has to be above 0 and finite, got {value}.")
