"""Days 2 and 3: recurrent networks. Read `rnn` first, then `gates`, then `networks`."""

from utils.recurrent.gates import GRU, LSTM, LSTMThroughTime, lstm_step
from utils.recurrent.networks import (
    Bidirectional,
    Embedding,
    LanguageModel,
    SequenceClassifier,
    Streaming,
    reverse,
)
from utils.recurrent.rnn import RNN, Recurrent, State, detach, each

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "Bidirectional",
    "Embedding",
    "LSTMThroughTime",
    "LanguageModel",
    "Recurrent",
    "SequenceClassifier",
    "State",
    "Streaming",
    "detach",
    "each",
    "lstm_step",
    "reverse",
]
