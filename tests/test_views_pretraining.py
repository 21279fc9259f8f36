"""Day 10's views: an encoder that fills gaps, in the page, and guesses from teacher to student."""

import json
import re
from functools import cache

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB, PAGE
from torch import nn

from utils.data.libraries import NAMES
from utils.data.text import EOS
from utils.pretraining import MASK, MaskedLanguageModel
from utils.pretraining.rounded import with_rounded_weights
from utils.show import views
from utils.show.views import Guesser, frame
from utils.tasks import filling, pretraining
from utils.tasks.distilling import sizes_of
from utils.transformer import Parts, ScaledEmbedding, TransformerConfig

FIRST = "Return the ___ of each axis as an array."


class Unscaled(ScaledEmbedding):
    """An embedding of another kind."""


def config(**changed) -> TransformerConfig:
    """Blocks like Day 10's, of other sizes, so that none stands for another."""
    sizes = {"vocab_size": 11, "d_model": 12, "n_heads": 3, "d_ff": 20, "n_layers": 2}
    how = {"norm": "pre", "positions": "rotary", "activation": "gelu", "dropout": 0.0}
    return TransformerConfig(**sizes | how | changed)


def by_chance(model: nn.Module, seed: int = 0) -> nn.Module:
    """Give a model weights of chance, large enough that all of them matter."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            noise = torch.randn(weight.shape, generator=draw)
            weight.copy_(0.4 * noise if weight.dim() > 1 else weight + 0.2 * noise)
    return model.eval()


def small(seed: int = 0, **changed) -> MaskedLanguageModel:
    return by_chance(MaskedLanguageModel(config(**changed)), seed)


@cache
def large(n_layers: int = 4) -> MaskedLanguageModel:
    """A model with the day's words and width; its weights are of chance."""
    return by_chance(pretraining.new_model(0, n_layers), n_layers)


def show(model: MaskedLanguageModel | None = None, **changed) -> dict:
    given = {
        "weights": filling.in_int8(model or large()),
        "words": pretraining.vocabulary().symbols,
        "n_heads": pretraining.N_HEADS,
        "names": NAMES,
        "sentence": FIRST,
    } | changed
    views.fill_the_gap(**given)
    return given


def data_of(bundle: dict) -> dict:
    (written,) = re.findall(r'<script type="application/json">(.*?)</script>', bundle["text/html"])
    return json.loads(written)


# Guesses ------------------------------------------------------------------------------------------


def chances_by_hand(words: list[str]) -> torch.Tensor:
    """A model's probabilities of all words of the vocabulary, at each word."""
    ids = torch.tensor([pretraining.vocabulary().encode(words) + [EOS]])
    with torch.no_grad():
        return large()(ids)[0, :, MASK + 1 :].softmax(dim=-1)


def test_each_gap_is_filled_with_the_likeliest_words():
    words = ["the", "<mask>", "of", "<name>", "is", "<mask>"]
    chances = chances_by_hand(words)
    found = filling.fill(large(), "The ___ of NumPy is _.", n=7)
    for gap, place in zip(found, (1, 5), strict=True):
        expected = chances[place].sort(descending=True)
        ids = pretraining.vocabulary().encode((word for word, _ in gap), strict=True)
        assert ids == [MASK + 1 + place for place in expected.indices[:7].tolist()]
        assert [share for _, share in gap] == pytest.approx(expected.values[:7].tolist(), rel=1e-4)
    assert len(filling.fill(large(), FIRST)[0]) == 5
    (every,) = filling.fill(large(), FIRST, n=10**6)
    assert sum(share for _, share in every) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("___ is ___.", "<mask> is <mask>"),
        ("Calls fit_transform, __init__ and _ (or ____)", "calls <name> and <mask> or <mask>"),
        ("A 3 in `x_`, not in non-___ axes", "a <number> in <name> not in <name> <mask> axes"),
        ("It is a = ___", ""),
        ("", ""),
    ],
)
def test_a_gap_is_a_word_of_its_own(sentence, words):
    assert filling.with_gaps(sentence) == words.split()


@pytest.mark.parametrize("sentence", ["Return the axis.", "fit_transform", "a = ___", ""])
def test_a_sentence_without_a_gap_is_refused(sentence):
    with pytest.raises(ValueError, match=f"___, .*{sentence!r}"):
        filling.fill(large(), sentence)


def test_no_guess_at_all_is_refused():
    with pytest.raises(ValueError, match="^n .* 0"):
        filling.fill(large(), FIRST, n=0)
    with pytest.raises(ValueError, match="^n .* 0"):
        filling.guesses(large(), ["the"], n=0)


def test_each_word_is_hidden_in_turn():
    words = ["return", "the", "xyzzy", "array"]
    found = filling.guesses(large(), words, n=3)
    for place, (best, right) in enumerate(found):
        hidden = [*words[:place], "<mask>", *words[place + 1 :]]
        (expected,) = filling.fill(large(), " ".join(hidden).replace("<mask>", "_"), n=3)
        assert best == expected
        if words[place] == "xyzzy":
            assert right is None
            continue
        (number,) = pretraining.vocabulary().encode([words[place]], strict=True)
        expected = chances_by_hand(hidden)[place, number - MASK - 1]
        assert right == pytest.approx(expected.item(), rel=1e-4)
    assert len(found) == 4


# In whole numbers ---------------------------------------------------------------------------------


def test_matrices_are_those_that_are_kept_in_whole_numbers_and_vectors_as_they_were():
    model = small()
    with torch.no_grad():
        model.encoder.embedding.symbols.weight[3] = 0
    found, names = filling.in_int8(model), dict(model.named_parameters())
    assert list(found) == list(names)
    kept = with_rounded_weights(model)
    for name, parts in found.items():
        *layer, own = name.split(".")
        expected = getattr(kept.get_submodule(".".join(layer)), own)
        whole, *scale = map(torch.from_numpy, parts)
        assert (whole.dtype == torch.int8) == (len(scale) == 1) == (names[name].dim() == 2), name
        assert torch.equal(scale[0] * whole if scale else whole, expected), name
    assert sizes_of(kept).bytes == sum(part.nbytes for parts in found.values() for part in parts)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"norm": "post"}, "'post', 'rotary', 'gelu'.* ScaledEmbedding:"),
        ({"positions": "learned"}, "'learned'"),
        ({"activation": "gelu_tanh"}, "'gelu_tanh'"),
        ({"parts": Parts(embedding=Unscaled)}, " Unscaled:"),
    ],
)
def test_a_model_that_the_page_does_not_compute_is_refused(changed, said):
    parts = changed.pop("parts", Parts())
    with pytest.raises(ValueError, match=said):
        filling.in_int8(MaskedLanguageModel(config(**changed), parts))


# It fills the gap ---------------------------------------------------------------------------------


def test_the_text_is_the_same_whatever_was_learned(shown):
    show()
    show(by_chance(pretraining.new_model(0), seed=9))
    assert shown[0]["text/plain"] == shown[1]["text/plain"]
    assert shown[0]["text/plain"] == f"View: it fills the gap that you leave. {FIRST}"
    assert shown[0]["text/html"] != shown[1]["text/html"]


def test_the_days_weights_are_at_most_500_kilobytes_of_text(shown):
    show(pretraining.new_model(0))
    data = data_of(shown[0])
    kept = sizes_of(with_rounded_weights(pretraining.new_model(0))).bytes
    weights = len(data["numbers"]) + len(data["reals"])
    assert 4 / 3 * kept <= weights < 4 / 3 * kept + 8 and weights < 500_000
    assert len(shown[0]["text/html"].encode()) < weights + 60_000


def changed_weight(name: str, change) -> dict:
    weights = filling.in_int8(large())
    weights[name] = change(*weights[name])
    return {"weights": weights}


TABLE, W_O = "encoder.embedding.symbols.weight", "encoder.blocks.1.self_attention.W_o.weight"
POOL = {"pool": (np.zeros(1, np.float32),)}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda: {"weights": {}}, f": {TABLE}"),
        (lambda: {"weights": filling.in_int8(large()) | POOL}, ": pool"),
        (
            lambda: changed_weight(W_O, lambda whole, scale: (whole[1:], scale[1:])),
            rf"'{W_O}' .*int8.*\(64, 64\)",
        ),
        (lambda: changed_weight(W_O, lambda w, s: (w * s, s)), f"'{W_O}' .*int8"),
        (lambda: changed_weight(W_O, lambda w, s: (w, s[1:])), f"'{W_O}' .*int8"),
        (lambda: changed_weight(W_O, lambda w, s: (w, s * np.nan)), f"'{W_O}' .*int8"),
        (lambda: changed_weight(W_O, lambda w, s: (w,)), f"'{W_O}' .*int8"),
        (lambda: changed_weight(TABLE, lambda w, s: (w[0],)), f"'{TABLE}' "),
        (lambda: changed_weight("head.bias", lambda b: (b[1:],)), r"'head.bias' .*\(3070,\)"),
        (lambda: changed_weight("head.bias", lambda b: (b * np.nan,)), "'head.bias' .*finite"),
        (
            lambda: changed_weight("head.bias", lambda b: (b.astype(np.int8),)),
            "'head.bias' .*finite",
        ),
        (lambda: {"words": ["a"]}, " 3070 .*<pad>, .* 1 words"),
        (
            lambda: {"words": pretraining.vocabulary().symbols[::-1]},
            " 3070 .*<pad>, .* 3070 words",
        ),
        (lambda: {"n_heads": 5}, "^5 heads .* 64 "),
        (lambda: {"n_heads": 64}, "^64 heads .* 64 "),
        (lambda: {"n_heads": 0}, "^0 heads .* 64 "),
        (lambda: {"sentence": "a " * 151}, " 300 .* 302"),
    ],
)
def test_what_does_not_fit_is_refused(shown, change, said):
    with pytest.raises(ValueError, match=said):
        show(**change())
    assert not shown


GIVEN = "matrices", "vectors", "numbers", "reals", "heads"


def page_of(*parts: str) -> str:
    """The script of some parts, as a view has it."""
    return "\n".join((frame.HERE / f"{part}.js").read_text(encoding="utf-8") for part in parts)


def faint() -> MaskedLanguageModel:
    """A model whose vectors are so small that the ε of its norms counts."""
    model = small()
    with torch.no_grad():
        model.encoder.embedding.symbols.weight *= 0.001
        model.head.bias.zero_()
    return model


@pytest.mark.parametrize(
    "make",
    [
        small,
        faint,
        lambda: small(n_layers=1, n_heads=6),
        lambda: small(n_layers=3, n_heads=1),
        large,
    ],
)
def test_the_page_computes_the_logits_that_python_computes(chromium, shown, make):
    """With rounded weights, to 1e-5 of the largest; those that were not rounded give others."""
    model = make()
    V, heads = model.config.vocab_size, model.config.n_heads
    words = [*pretraining.vocabulary().symbols[:5], *(f"w{n}" for n in range(V - 5))]
    show(model, words=words, n_heads=heads)
    data = {name: data_of(shown[0])[name] for name in GIVEN}
    ids = torch.randint(V, (1, 9), generator=torch.Generator().manual_seed(1))
    places = [0, 4, 8]
    tab = chromium.new_page()
    script = f"([given, ids, places]) => {{ {page_of('frame', 'encoder')}\n"
    script += "return encoder(given)(ids, places); }"
    found = torch.tensor(tab.evaluate(script, [data, ids[0].tolist(), places])).double()
    tab.close()
    with torch.no_grad():
        expected = with_rounded_weights(model).double()(ids)[0, places]
        others = model(ids)[0, places]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5 * expected.abs().max().item())
    assert (others - expected).abs().max() > 1e-3 * expected.abs().max()


@pytest.fixture
def typed(alone):
    def open_in(theme: str):
        show()
        tab = alone(theme)
        tab.evaluate(AS_IN_JUPYTERLAB)
        return tab

    return open_in


def write(tab, sentence: str) -> None:
    tab.get_by_label("Your sentence").fill(sentence)


def percents(told: str) -> float:
    return 0.0005 if "<" in told else float(re.search(r"([\d.]+) ?%", told)[1]) / 100


TYPED = [
    FIRST,
    "The ___ of the xyzzy is computed by NumPy, e.g. along ___ axes of `x` (or 3 of ___).",
    "___",
    "Größe is ___; it doesn't call fit_transform.",
    "is " * 60 + "___.",
]


def test_the_page_fills_gaps_as_python_does(typed):
    tab, rounded = typed("light"), with_rounded_weights(large())
    for sentence in TYPED:
        write(tab, sentence)
        expected = filling.fill(rounded, sentence, n=10)
        lists = tab.locator(".view-gaps ul").all()
        for bars, best in zip(lists, expected, strict=True):
            rows = [row.split("\n") for row in bars.locator("li").all_inner_texts()]
            assert [word for word, _ in rows] == [word for word, _ in best], sentence
            for (_, told), (_, share) in zip(rows, best, strict=True):
                rounding = 0.0051 if share > 0.099 else 0.00051
                assert percents(told) == pytest.approx(share, abs=rounding)
        words, filled = filling.with_gaps(sentence), [best[0][0] for best in expected]
        assert tab.locator(".view-filled strong").all_inner_texts() == filled
        unknown = [word for word, n in zip(words, encoded(words), strict=True) if n == 3]
        assert tab.locator(".view-filled em").all_inner_texts() == unknown
        told = tab.locator("[aria-live] p").last.inner_text()
        assert bool(told) == bool(unknown) and all(f"“{word}”" in told for word in unknown)
        line = iter(filled)
        read = " ".join(next(line) if word == "<mask>" else word for word in words)
        assert tab.locator(".view-filled").inner_text() == read
    assert len({best[0][0] for s in TYPED for best in filling.fill(rounded, s)}) > 3


def encoded(words: list[str]) -> list[int]:
    return pretraining.vocabulary().encode(words)


def test_a_gap_is_left_by_keyboard_alone(typed):
    tab = typed("light")
    field, live = tab.get_by_label("Your sentence"), tab.locator("[aria-live]")
    write(tab, "")
    assert live.inner_text() == "Type a sentence of plain words, without formulas."
    tab.keyboard.type("the axis ")
    assert live.inner_text() == "Leave a gap: write ___ for a word."
    assert tab.locator(".view-gaps ul").count() == 0
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert field.input_value() == "the axis ___"
    assert tab.evaluate("document.activeElement.value") == "the axis ___"
    [(best, share)] = filling.fill(with_rounded_weights(large()), "the axis ___", n=1)[0]
    assert live.inner_text().startswith(f"It fills in “{best}” (")
    assert percents(live.inner_text()) == pytest.approx(share, abs=0.0051)
    field.evaluate("node => node.setSelectionRange(4, 8)")
    tab.get_by_role("button", name="Leave a gap").click()
    assert field.input_value() == "the ___ ___"
    assert tab.locator(".view-gaps p").all_inner_texts() == ["Gap 1", "Gap 2"]


def test_the_page_says_how_large_the_network_is(typed):
    found = filling.in_int8(large()).values()
    n = sum(parts[0].size for parts in found)
    small = sum(parts[0].size for parts in found if len(parts) == 2)
    rows = sum(len(parts[1]) for parts in found if len(parts) == 2)
    said = typed("light").get_by_text("The whole network is in this page").inner_text()
    assert f"in this page, {n:,} numbers: {small:,} of one byte, with a scale for each of" in said
    assert f"each of {rows:,} rows, and {n - small:,} as they were." in said
    kept = sizes_of(with_rounded_weights(large())).bytes
    assert f"That is {round(kept / 1000)} kB, as text {round(4 / 3 * kept / 1000)} kB;" in said
    assert said.endswith(f"it would be {round(4 * n / 1000):,} kB.")


@pytest.mark.speed
def test_a_sentence_takes_at_most_50_milliseconds(typed):
    tab = typed("light")
    write(tab, "the axis of the array is a ___ " * 4)
    seconds = """field => {
        const begun = performance.now();
        field.dispatchEvent(new Event("input"));
        return performance.now() - begun;
    }"""
    field = tab.get_by_label("Your sentence")
    assert min(field.evaluate(seconds) for _ in range(10)) < 50


# Teacher and students -----------------------------------------------------------------------------

SENTENCES = [
    ("return", "the", "number", "of", "<name>"),
    ("the", "xyzzy", "axis"),
]
LAYERS = {"4 blocks": (4, 0.423), "2 blocks": (2, 0.4151), "1 block": (1, 0.3)}


@cache
def guessers() -> tuple[Guesser, ...]:
    return tuple(
        Guesser(
            name,
            sum(weight.numel() for weight in large(n).parameters()),
            quality,
            [filling.guesses(large(n), words) for words in SENTENCES],
        )
        for name, (n, quality) in LAYERS.items()
    )


def show_hidden(**changed) -> dict:
    given = {"sentences": SENTENCES, "models": guessers(), "measure": "right with 100 labels"}
    views.hidden_words(**given | changed)
    return given


def test_the_text_of_hidden_words_holds_nothing_measured(shown):
    show_hidden()
    show_hidden(models=[one._replace(quality=0.1) for one in guessers()])
    assert shown[0]["text/plain"] == shown[1]["text/plain"]
    assert shown[0]["text/html"] != shown[1]["text/html"]
    assert shown[0]["text/plain"].splitlines() == [
        "View: hide a word; models: 4 blocks, 2 blocks, 1 block.",
        *map(" ".join, SENTENCES),
    ]


def test_probabilities_are_rounded(shown):
    show_hidden()
    first = guessers()[0].guesses[0][1]
    told = data_of(shown[0])["models"][0]["guesses"][0][1]
    assert told["right"] == round(first[1], 4)
    assert told["best"] == [[word, round(share, 4)] for word, share in first[0]]


def teacher(**changed) -> dict:
    return {"models": [guessers()[0]._replace(**changed), *guessers()[1:]]}


def with_guess(best, right) -> dict:
    (first, *words), *others = guessers()[0].guesses
    return teacher(guesses=[[(best, right), *words], *others])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda: {"sentences": []}, "two models"),
        (lambda: {"models": guessers()[:1]}, "two models"),
        (lambda: teacher(name="1 block"), "name .* 1 block, 2 blocks, 1 block"),
        (lambda: {"sentences": ["the axis", ("the",)]}, "list .*'the axis'"),
        (lambda: {"sentences": [(), ("the",)]}, r"list .* \(\)"),
        (lambda: teacher(parameters=0), "4 blocks .* 0 parameters"),
        (lambda: teacher(parameters=1.5), "4 blocks .* 1.5 parameters"),
        (lambda: teacher(quality=42.3), "4 blocks .* 42.3:"),
        (lambda: teacher(quality=float("nan")), "4 blocks .* nan:"),
        (lambda: teacher(guesses=[]), "4 blocks .*guesses"),
        (lambda: {"sentences": [("the",), *SENTENCES[1:]]}, "4 blocks .*guesses"),
        (lambda: with_guess([], 0.5), "4 blocks .*guesses .* one"),
        (lambda: with_guess([("a", 1.5)], 0.5), "4 blocks .* 1.5:"),
        (lambda: with_guess([("a", 0.5)], -0.1), "4 blocks .* -0.1:"),
    ],
)
def test_guesses_that_do_not_fit_are_refused(shown, change, said):
    with pytest.raises(ValueError, match=said):
        show_hidden(**change())
    assert not shown


@pytest.fixture
def opened(alone):
    def open_in(theme: str):
        show_hidden()
        tab = alone(theme)
        tab.evaluate(AS_IN_JUPYTERLAB)
        return tab

    return open_in


def choose(tab, label: str, place: int) -> None:
    tab.get_by_label(label, exact=True).locator("input").nth(place).check(force=True)


def test_the_page_tells_what_each_model_guesses_for_each_word(opened):
    tab = opened("light")
    for n, model in enumerate(guessers()):
        tab.get_by_label("Model").fill(str(len(guessers()) - 1 - n))
        assert tab.locator("output").inner_text() == model.name
        for s, words in enumerate(SENTENCES):
            choose(tab, "Sentence", s)
            for place, word in enumerate(words):
                choose(tab, "Hidden word", place)
                shown = [*words[:place], "___", *words[place + 1 :]]
                assert tab.locator(".view-hidden label").all_inner_texts() == shown
                best, chance = model.guesses[s][place]
                rows = [row.split("\n") for row in tab.locator(".view-bars li").all_inner_texts()]
                expected = [f"✓ {other}" if other == word else other for other, _ in best]
                assert [other for other, _ in rows] == expected
                for (_, told), (_, share) in zip(rows, best, strict=True):
                    assert percents(told) == pytest.approx(
                        share, abs=0.0051 if share > 0.099 else 6e-4
                    )
                seen, size = tab.locator("[aria-live] p").all_inner_texts()
                assert seen.startswith(f"The hidden word is “{word}”. ")
                assert ("doesn't know it" in seen) == (chance is None) == (word == "xyzzy")
                if chance is not None:
                    assert percents(seen) == pytest.approx(
                        chance, abs=0.0051 if chance > 0.099 else 6e-4
                    )
                assert f"its first guess is “{best[0][0]}”" in seen
                assert seen.endswith("✓ correct.") == (best[0][0] == word)
                quality = f"{100 * model.quality:.1f}%"
                assert size == (
                    f"{model.name}: {model.parameters:,} parameters; right with 100 labels: "
                    f"{quality}."
                )


def test_a_tick_is_given_to_the_word_that_stood_there(alone):
    show_hidden(**with_guess([("a", 0.5), ("return", 0.25)], 0.25))
    tab = alone("light")
    choose(tab, "Hidden word", 0)
    assert tab.locator(".view-bars li").all_inner_texts() == ["a\n50%", "✓ return\n25%"]
    assert tab.locator("[aria-live] p").first.inner_text() == (
        "The hidden word is “return”. The model gives it 25%; its first guess is “a”: "
        "✗ not correct."
    )
    show_hidden(**with_guess([("return", 0.75), ("a", 0.0001)], 0.75))
    tab = alone("light")
    choose(tab, "Hidden word", 0)
    assert tab.locator(".view-bars li").all_inner_texts() == ["✓ return\n75%", "a\n< 0.1%"]
    assert tab.locator("[aria-live] p").first.inner_text().endswith("“return”: ✓ correct.")


def test_words_and_models_are_chosen_by_keyboard_alone(opened):
    tab = opened("light")
    words, live = tab.locator(".view-hidden label"), tab.locator("[aria-live]")
    assert words.nth(2).inner_text() == "___" and "4 blocks" in live.inner_text()
    tab.get_by_label("Hidden word", exact=True).locator(":checked").focus()
    tab.keyboard.press("ArrowRight")
    assert (words.nth(2).inner_text(), words.nth(3).inner_text()) == ("number", "___")
    slider = tab.get_by_label("Model")
    slider.focus()
    for name in ("2 blocks", "1 block", "1 block"):
        tab.keyboard.press("ArrowLeft")
        assert slider.get_attribute("aria-valuetext") == name and name in live.inner_text()
    tab.get_by_label("Sentence").locator(":checked").focus()
    tab.keyboard.press("ArrowDown")
    assert words.all_inner_texts() == ["the", "___", "axis"]
    assert "1 block" in live.inner_text(), "the model stays chosen"


def test_a_dot_is_where_its_size_and_quality_are_and_the_chosen_one_is_marked(opened):
    tab = opened("light")
    dots = tab.locator(".view-quality path")
    largest, best = guessers()[0].parameters, max(one.quality for one in guessers())
    for dot, model in zip(dots.all(), guessers(), strict=True):
        x, y = re.fullmatch(r"M([\d.]+) ([\d.]+)h0", dot.get_attribute("d")).groups()
        assert float(x) == pytest.approx(100 * model.parameters / largest, abs=0.06)
        assert float(y) == pytest.approx(100 - 100 * model.quality / best, abs=0.06)
    for place in range(3):
        tab.get_by_label("Model").fill(str(2 - place))
        marks = [dot.get_attribute("data-now") is not None for dot in dots.all()]
        assert marks == [place == n for n in range(3)]
    told = tab.locator(".view-quality svg").get_attribute("aria-label")
    assert told.startswith("right with 100 labels against parameters. 4 blocks: ")
    assert all(f"{one.name}: {one.parameters:,}" in told for one in guessers())
    ends = tab.locator(".view-quality div span").all_inner_texts()
    assert ends == ["42.3%", "0", "0", f"{largest:,}"]


def test_one_sentence_needs_no_choice(alone):
    models = [one._replace(guesses=one.guesses[:1]) for one in guessers()]
    show_hidden(sentences=SENTENCES[:1], models=models)
    tab = alone("light")
    assert tab.get_by_label("Sentence").count() == 0
    assert tab.locator(".view-hidden label").count() == 5


# Both ---------------------------------------------------------------------------------------------


def test_what_stands_in_the_page_without_a_script(chromium, shown):
    show()
    show_hidden()
    context = chromium.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.set_content(PAGE.format(theme="light", views="".join(b["text/html"] for b in shown)))
    seen = tab.locator("main").inner_text()
    context.close()
    assert f"It begins with: {FIRST}" in seen
    for model in guessers():
        [(word, share), *_], _ = model.guesses[0][2]
        assert f"{model.name}: return the ___ of <name>: “{word}”, {100 * share:.0f}%." in seen


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_they_are_accessible_and_fit_a_phone(typed, opened, theme):
    tab = typed(theme)
    long = "A-very-long-word-without-any-end-" * 4
    for sentence in (FIRST, f"___ is {long} and xyzzy of ___", long, ""):
        write(tab, sentence)
        check(tab)
    tab = opened(theme)
    check(tab)
    for name, place in (("Sentence", 1), ("Hidden word", 1)):
        choose(tab, name, place)
        check(tab)


def check(tab) -> None:
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


@pytest.mark.parametrize("file", ["encoder", "fill_the_gap", "guesses", "hidden_words", "sentence"])
def test_no_script_begins_a_formula_or_names_a_host(file):
    script = page_of(file)
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")
