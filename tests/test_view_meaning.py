"""The sentence of menus: the network in the page gives the answers of the one in Python."""

import random

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB

from utils.data import pronouns
from utils.self_attention import dot_product_attention, merge_heads, split_heads
from utils.show import views
from utils.tasks.pronouns import VOCABULARY

D, HEADS, LAYERS, V = 12, 3, 2, len(VOCABULARY)
NOUNS = {noun: (pronouns.kind(noun), noun in pronouns.SINGULAR) for noun in pronouns.NOUNS}
SAID = {word: kind for kind, (_, said) in pronouns.SAID_OF.items() for word in said}


def network(seed: int = 0) -> dict:
    """Weights of a reader that has not been trained, large enough to prefer some words."""
    draw = torch.Generator().manual_seed(seed)
    shapes = {"words": (V, D), "places": (24, D), "W_in": (LAYERS, 3 * D, D)}
    shapes |= {"W_o": (LAYERS, D, D), "output": (V, D), "bias": (V,)}
    weights = {name: torch.randn(shape, generator=draw) for name, shape in shapes.items()}
    weights["W_in"] /= D**0.5
    return weights | {"heads": HEADS}


def chances(net: dict, sentence: list[str]) -> torch.Tensor:
    """What the network says at each place, (T, V)."""
    ids = torch.tensor([VOCABULARY.encode(sentence, strict=True)])
    x = net["words"][ids] + net["places"][: ids.shape[1]]
    for W_in, W_o in zip(net["W_in"], net["W_o"], strict=True):
        q, k, v = (split_heads(y, HEADS) for y in (x @ W_in.T).chunk(3, dim=-1))
        x = x + merge_heads(dot_product_attention(q, k, v)[0]) @ W_o.T
    return (x @ net["output"].T + net["bias"]).softmax(-1)[0]


def show(net: dict, **changed) -> None:
    menus = pronouns.menus()
    views.meaning(
        net, VOCABULARY.symbols, **{"menus": menus, "nouns": NOUNS, "said": SAID} | changed
    )


def test_the_text_is_the_same_whatever_was_learned(shown):
    show(network(0))
    show(network(1))
    assert shown[0]["text/plain"] == shown[1]["text/plain"]
    assert shown[0]["text/plain"].startswith("View: ") and "the street" in shown[0]["text/plain"]
    assert shown[0]["text/html"] != shown[1]["text/html"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"W_in": torch.zeros(2, D, D)}, r"'W_in' .*\(2, 36, 12\).*\(2, 12, 12\)"),
        ({"bias": torch.full((V,), torch.nan)}, "'bias' .*finite"),
        ({"heads": 5}, " 5 heads .* 12 "),
    ],
)
def test_weights_that_do_not_fit_are_refused(shown, change, said):
    with pytest.raises(ValueError, match=said):
        show(network() | change)
    assert not shown


def test_a_word_that_the_network_does_not_know_is_refused(shown):
    with pytest.raises(ValueError, match=" unicorn"):
        show(network(), menus=[("subject", ["the unicorn"], 0)])


@pytest.fixture
def opened(alone):
    def open_in(theme: str, net: dict):
        show(net)
        return alone(theme)

    return open_in


def test_the_page_answers_as_python_does(opened):
    net = network()
    tab = opened("light", net)
    menus, chance = pronouns.menus(), random.Random(0)
    selects = tab.locator(".view-sentence select").all()
    open_menus = [options for _, options, _ in menus if len(options) > 1]
    assert len(selects) == len(open_menus)
    answers = set()
    for _ in range(25):
        choice = [chance.randrange(len(options)) for options in open_menus]
        for select, index in zip(selects, choice, strict=True):
            select.select_option(index=index)
        left = iter(choice)
        parts = [options[next(left) if len(options) > 1 else 0] for _, options, _ in menus]
        sentence = " ".join(parts).split()
        expected = chances(net, sentence)
        gap = sentence.index("_")
        pronoun = next(i for i, word in enumerate(sentence) if word in pronouns.PRONOUNS)
        form, meant = (VOCABULARY.symbols[expected[at].argmax()] for at in (gap, pronoun))
        told = tab.locator(".view-seen").inner_text()
        assert f"“{' '.join(sentence).replace('_', form)}”" in told
        assert told.endswith(f"“{sentence[pronoun]}” means “{meant}”.")
        answers.add(meant)
        share = tab.locator(".view-bars li").first.inner_text().split()
        noun = next(word for word in sentence if word in NOUNS)
        of_noun = 100 * expected[pronoun, VOCABULARY.encode([noun])[0]].item()
        assert share[0] == noun and abs(int(share[1].rstrip("%")) - of_noun) < 1
    assert len(answers) > 3  # else this would compare nothing


def test_it_says_whether_the_answer_is_right_and_when_there_is_none(opened):
    tab = opened("light", network())
    verdict = tab.locator(".view-said")
    said = (
        "✓ That is correct." if "means “animal”" in tab.locator(".view-seen").inner_text() else ""
    )
    assert verdict.inner_text() == (said or "✗ The correct noun is “animal”.")
    tab.get_by_label("pronoun").select_option(index=1)  # they, and no noun is plural
    assert "no noun can be meant" in verdict.inner_text()
    tab.get_by_label("pronoun").select_option(index=0)
    tab.get_by_label("object").select_option(label="the dog")
    assert "more than one noun can be meant" in verdict.inner_text()
    tab.get_by_label("object").select_option(label="the animal")
    assert "a noun occurs twice" in verdict.inner_text()


def test_both_verdicts_are_given(opened):
    net = network()
    net["output"] = torch.zeros(V, D)
    for meant in ("animal", "street"):  # a network that says one word everywhere
        net["bias"] = torch.zeros(V)
        net["bias"][VOCABULARY.encode([meant])[0]] = 5.0
        tab = opened("light", net)
        told = tab.locator(".view-said").inner_text()
        assert told == (
            "✓ That is correct." if meant == "animal" else "✗ The correct noun is “animal”."
        )
        shares = [
            row.split()[1].rstrip("%") for row in tab.locator(".view-bars li").all_inner_texts()
        ]
        assert (int(shares[0]) > int(shares[1])) == (meant == "animal")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme, network())
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
    tab.evaluate(AS_IN_JUPYTERLAB)
    tab.get_by_label("subject").focus()
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Tab")
    assert "the dog" in tab.locator(".view-seen").inner_text()
