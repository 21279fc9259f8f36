"""Which language a word is from: the page reads as the book's network does, letter by letter."""

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from live import stored_at_random
from playwright.sync_api import expect

from utils.data.text import SPECIAL, UNK
from utils.recurrent import RNN, SequenceClassifier
from utils.show.views import frame, models, which_language
from utils.show.views.which_language import LONGEST, check

LETTERS = "adghikmnotuäß"
NAMES = ["Finnish", "German", "Italian", "Polish", "Spanish", "Turkish"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a stored model, and the same model in int8."""
    model = SequenceClassifier(len(SPECIAL) + len(LETTERS), 5, RNN(5, 16), len(NAMES))
    folder = tmp_path_factory.mktemp("models")
    with stored_at_random(folder, model, 0.7, letters=LETTERS, answers=NAMES) as both:
        yield both


@pytest.fixture
def opened(here, live):
    def open_in(theme: str = "light", word: str = "huhtikuu".replace("h", "m")):
        which_language("tiny", word=word)
        tab = live(theme)
        expect(tab.locator(".view-answer")).to_contain_text("says the network")
        return tab

    return open_in


@torch.no_grad()
def verdicts(model, word: str) -> torch.Tensor:
    """Probabilities (T, 6) after each letter."""
    ids = [len(SPECIAL) + LETTERS.index(a) if a in LETTERS else UNK for a in word]
    return model.output(model.layer(model.embedding(torch.tensor([ids])))[0])[0].softmax(-1)


def type_in(tab, word: str) -> str:
    """Type a word, and wait for what is said of it."""
    tab.get_by_label("A word or a name").fill(word)
    plain = word.replace("İ", "i").lower().split()[0]
    answer = tab.locator(".view-answer")
    expect(answer).to_contain_text(f"“{plain}” is")
    return answer.inner_text()


@pytest.mark.parametrize("word", ["domnino", "Äiti", "t", "mxxmai", "İtum", "maiß odt"])
def test_the_page_reads_as_python_does(opened, made, word):
    tab = opened()
    said = type_in(tab, word)
    plain = word.replace("İ", "i").lower().split()[0]
    shares = verdicts(made[1], plain)
    best = [NAMES[k] for k in shares.argmax(1)]
    assert f"“{plain}” is {best[-1]}, says the network: {100 * shares[-1].max():.0f}%." in said
    bars = tab.locator(".view-bars li").all()
    for row in bars:
        name, share = (part.inner_text() for part in row.locator("span").all())
        assert abs(int(share.rstrip("%")) - 100 * shares[-1, NAMES.index(name)]) < 0.6
    assert len(bars) == 4
    shown = tab.locator(".view-verdicts i[data-best]").evaluate_all(
        "all => all.map((i) => i.title)"
    )
    wanted = {f"after “{plain[: t + 1]}”: {name} " for t, name in enumerate(best)}
    assert len(shown) == len(plain)
    assert {title.rpartition(" ")[0] + " " for title in shown} == wanted
    assert ("It has never seen “x”." in said) == ("x" in word)
    assert ("one word at a time, here the first" in said) == (" " in word)


def test_each_change_of_its_mind_is_told(opened, made):
    tab = opened()
    for word in ("domnino", "aaaa", "tttttt", "kuumatä"):
        said = type_in(tab, word)
        best = [NAMES[k] for k in verdicts(made[1], word).argmax(1)]
        turns = [t for t in range(len(word)) if not t or best[t] != best[t - 1]]
        if len(turns) == 1:
            assert f"It has said {best[0]} since the first letter." in said
            continue
        assert f"After “{word[0]}” it said {best[0]}, " in said
        assert f", from “{word[: turns[-1] + 1]}” on {best[-1]}." in said
        for t in turns[1:-1]:
            assert f", after “{word[: t + 1]}” {best[t]}," in said


def test_nothing_and_what_is_no_letter_are_asked_for_again(opened):
    tab = opened()
    for text in ("", " 12 "):
        tab.get_by_label("A word or a name").fill(text)
        expect(tab.locator(".view-answer")).to_have_text("Type a word or a name.")
        assert tab.locator(".view-verdicts *").count() == 0
    type_in(tab, "mai")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme)
    type_in(tab, "mai" * 6 + "ku")
    assert tab.locator(".view-verdicts b").count() == LONGEST
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


def test_no_weight_is_in_the_view(here, shown):
    which_language("tiny", word="mai")
    (bundle,) = shown
    assert bundle["text/plain"] == "View: Which language is your word from. mai"
    assert '"bytes"' not in bundle["text/html"] and len(bundle["text/html"]) < 31_000
    script = (frame.HERE / "which_language.js").read_text(encoding="utf-8")
    assert r"\(" not in script and r"\[" not in script and "//" not in script.replace("// ", "")


@pytest.mark.parametrize("word", ["", "mxai", "mai" * 7])
def test_a_first_word_that_cannot_be_read_is_refused(here, shown, word):
    with pytest.raises(ValueError, match=f" 20 .*{word!r}"):
        which_language("tiny", word=word)
    assert not shown


@pytest.mark.parametrize(
    ("header", "weight", "said"),
    [
        ({}, {"layer.b": (torch.zeros(3).numpy(),)}, "layer.b"),
        ({"answers": ["one"]}, {}, "letters or answers"),
        ({"letters": ""}, {}, "letters or answers"),
    ],
)
def test_other_models_are_refused(here, header, weight, said):
    held = models.load("tiny")
    with pytest.raises(ValueError, match=f"LetterReader.* {said}"):
        check(models.Stored(held.header | header, held.weights | weight))
