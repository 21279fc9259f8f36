"""The reader of dates in a page: GRUs with additive attention, trained, rounded and stored.

It learns from dates of twelve countries, from 1900 to 2099, as people type them: in small letters,
without full stops or accents, with two digits of the year, under another country's name. "exact"
are its shares of correct answers on other days as CLDR writes them, "typed" on the same days as
people type them; "int8" are both with its matrices in whole numbers of 8 bits. The reader of the
first seed is stored in int8.
"""

import numpy as np

from utils.data.text import EOS, SPECIAL, Vocabulary, pad
from utils.pretraining.rounded import with_rounded_weights
from utils.seq2seq import greedy_decode, sequence_loss
from utils.show.views.models import store
from utils.tasks.dates import MAX_LEN, sample
from utils.tasks.rounded import in_int8
from utils.tasks.translation import train_translator
from utils.tasks.typed_dates import drawn, in_ids, reader, typed
from utils.training.metrics import exact_match

STORED = 0  # the seed
PARAMETERS = {"seed": [STORED], "pairs": 60_000, "held_out": 2_000, "epochs": 3}
SHORT = {
    "pairs": 500,
    "held_out": 100,
    "epochs": 1,
    "STORED": None,
}


def data() -> list[np.ndarray]:
    return sample()


def measure(seed: int, pairs: int, held_out: int, epochs: int) -> dict:
    train, test = drawn(pairs, held_out, seed)
    chance, other = np.random.default_rng([seed, 2]), np.random.default_rng([seed, 3])
    texts = [typed(example, chance) for example in train]
    known = Vocabulary(symbol for text in texts for symbol in text)
    digits = Vocabulary("0123456789-")
    sources = [in_ids(text, known, chance) for text in texts]
    targets = [digits.encode(example.target) for example in train]
    model = reader(len(known), len(digits), seed)
    train_translator(model, sequence_loss, sources, targets, epochs=epochs, seed=seed)
    ways = {
        "exact": [[f"<{example.locale}>", *example.text] for example in test],
        "typed": [typed(example, other) for example in test],
    }
    wanted = [[*digits.encode(example.target), EOS] for example in test]

    def shares(reading) -> dict[str, float]:
        found = {}
        for way, texts in ways.items():
            source, lengths = pad([in_ids(text, known) for text in texts])
            found[way] = exact_match(greedy_decode(reading, source, lengths, MAX_LEN), wanted, EOS)
        return found

    if seed == STORED:
        store(
            "dates",
            in_int8(model),
            made_by="experiments/dates_page.py",
            longest=MAX_LEN,
            source=list(known.symbols[len(SPECIAL) :]),
            target=list(digits.symbols[len(SPECIAL) :]),
        )
    rounded = {f"{way}, int8": share for way, share in shares(with_rounded_weights(model)).items()}
    return {"parameters": sum(weight.numel() for weight in model.parameters())} | (
        shares(model) | rounded
    )
