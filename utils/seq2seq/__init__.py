"""Day 4: sequence to sequence. Read `models` first, then `decoding`."""

from utils.seq2seq.decoding import beam_search, forced_weights, greedy_decode
from utils.seq2seq.models import (
    BOS,
    EOS,
    PAD,
    BahdanauDecoder,
    Decoder,
    Encoder,
    LuongDecoder,
    Seq2Seq,
    Seq2SeqConfig,
    sequence_loss,
    shift,
)

__all__ = [
    "BOS",
    "EOS",
    "PAD",
    "BahdanauDecoder",
    "Decoder",
    "Encoder",
    "LuongDecoder",
    "Seq2Seq",
    "Seq2SeqConfig",
    "beam_search",
    "forced_weights",
    "greedy_decode",
    "sequence_loss",
    "shift",
]
