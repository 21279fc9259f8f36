"""Day 6's stream, a position through the blocks, and the sentences of its task."""

import json
import re

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from utils.show import views
from utils.tasks.short_translation import MODELS, ShortTask, as_rows, at_best

WORDS = ["<pad>", "<eos>", "wo", "ai", "ni", "ta", "men", "bu"]
TARGETS = [["wo", "ai", "ni", "EOS"], ["ta", "EOS"]]
STAGES = ["embedding and position", "block 1: self-attention", "block 1: feed-forward"]


def made_up(seed: int = 0) -> dict:
    generator = torch.Generator().manual_seed(seed)
    return {
        "sources": ["I love you", "he"],
        "targets": TARGETS,
        "logits": 3 * torch.randn(3, 2, 4, len(WORDS), generator=generator),
        "stages": STAGES,
        "words": WORDS,
    }


def data_of(bundle: dict) -> dict:
    found = re.search('<script type="application/json">(.*?)</script>', bundle["text/html"], re.S)
    return json.loads(found[1])


def test_the_text_is_the_same_whatever_was_learned(shown):
    views.stream(**made_up(0))
    views.stream(**made_up(1))
    one, other = shown
    assert one["text/plain"] == other["text/plain"]
    assert one["text/plain"].startswith("View: ")
    assert one["text/html"] != other["text/html"]


def test_logits_are_those_of_each_place_rounded_without_padding(shown):
    given = made_up()
    views.stream(**given)
    data = data_of(shown[0])
    assert data["words"][:2] == ["PAD", "EOS"]
    assert [sentence["said"] for sentence in data["sentences"]] == [[2, 3, 4, 1], [5, 1]]
    found = torch.tensor(data["sentences"][1]["logits"])  # (T, K, V)
    torch.testing.assert_close(found, given["logits"][:, 1, :2].transpose(0, 1), atol=0.006, rtol=0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"stages": STAGES[:2]}, r"logits .*\(2, 2, 4, 8\)"),
        ({"targets": TARGETS[:1]}, r"targets, .* 1\."),
        ({"sources": [], "targets": []}, "0 sentences"),
        ({"logits": torch.full((3, 2, 4, 8), torch.nan)}, "finite numbers"),
        ({"targets": [["wo", "ai", "hao", "EOS"], ["ta"]]}, "logit .* hao"),
    ],
)
def test_a_stream_that_does_not_fit_is_refused(shown, change, said):
    with pytest.raises(ValueError, match=said):
        views.stream(**made_up() | change)
    assert not shown


def test_the_page_reads_off_the_stream_what_python_does(alone, shown):
    given = made_up()
    views.stream(**given)
    tab = alone("light")
    rounded = given["logits"].double().mul(100).round() / 100
    for sentence, target in enumerate(TARGETS):
        tab.get_by_role("radiogroup", name="Sentence").get_by_role("radio").nth(sentence).check()
        for place, word in enumerate(target):
            places = tab.get_by_role("radiogroup", name="The word to be predicted")
            places.get_by_role("radio").nth(place).check()
            for stage, heat in ((0, 0), (1, -3), (2, 2.5)):
                stages = tab.get_by_role("radiogroup", name="Its stream after")
                stages.get_by_role("radio").nth(stage).check()
                tab.get_by_role("slider").fill(str(heat))
                temperature = round(100 * 2**heat) / 100
                p = (rounded[stage, sentence, place] / temperature).softmax(-1)
                best = data_of(shown[0])["words"][p.argmax()]
                seen = tab.locator(".view-seen").inner_text()
                assert seen.startswith(f"After “{STAGES[stage]}” it would predict “{best}”")
                share = int(re.search(r"\((\d+)%\)", seen)[1])
                assert abs(share - 100 * p.max().item()) <= 0.51
                told = tab.locator(".view-answer p").nth(1).inner_text()
                assert told.startswith("✓" if best == word else f"✗ The correct word is “{word}”")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(alone, shown, theme):
    views.stream(**made_up())
    tab = alone(theme)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


def test_they_can_be_used_from_the_keyboard(alone, shown):
    views.stream(**made_up())
    tab = alone("light")
    tab.get_by_role("slider").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.get_by_role("slider").get_attribute("aria-valuetext") == "temperature 1.41"
    tab.get_by_role("radiogroup", name="Its stream after").get_by_role("radio").first.focus()
    tab.keyboard.press("ArrowDown")
    assert "block 1: self-attention" in tab.locator(".view-seen").inner_text()


@pytest.fixture(scope="module")
def task() -> ShortTask:
    return ShortTask()


def test_the_asked_sentence_is_in_no_part_and_the_parts_share_none(task):
    parts = [dict(part) for part in (task.train, task.validation, task.test)]
    assert all("I love deep learning" not in part for part in parts)
    assert not parts[0].keys() & (parts[1].keys() | parts[2].keys())
    assert not parts[1].keys() & parts[2].keys()
    assert [len(part) for part in parts[1:]] == [400, 400] and len(parts[0]) > 4_000


def test_a_word_that_it_never_saw_is_refused_and_what_is_written_is_judged(task):
    with pytest.raises(ValueError, match="'unicorns'"):
        task.source(["I love unicorns"])
    part = task.test[:3]
    ids = task.target(chinese for _, chinese in part)
    written = torch.zeros(3, 20, dtype=torch.long)
    for row, sentence in zip(written, ids, strict=True):
        row[: len(sentence) + 1] = torch.tensor([*sentence, 2])
    assert task.exact(written, part) == 1
    written[0, 0] = ids[1][0] if ids[0][0] != ids[1][0] else ids[1][1]
    assert task.exact(written, part) == pytest.approx(2 / 3)


def test_sentences_are_rows_of_ids_each_source_with_its_end(task):
    part = task.train[:5]
    sources, targets = as_rows(task, part)
    padded, lengths = task.source(english for english, _ in part)
    assert [row[:n].tolist() for row, n in zip(padded, lengths, strict=True)] == sources
    assert targets == task.target(chinese for _, chinese in part)


def test_a_model_is_shown_at_the_rate_that_is_best_on_validation():
    class Runs:
        parameters = {"rate": [1, 2]}

        def select(self, model, rate):
            score = {("a", 1): 0.9, ("a", 2): 0.5}.get((model, rate), 0.1 * rate)
            return [{"validation": score, "test": rate}] * 3

    assert [at_best(Runs(), model)[0]["test"] for model in "ab"] == [1, 2]


def test_the_rivals_are_about_as_large_and_translate_ids_into_logits(task):
    ids = torch.tensor([[5, 6, 2]])
    for model in MODELS.values():
        built = model(task)
        assert 30_000 < sum(weight.numel() for weight in built.parameters()) < 150_000
        assert built(ids, torch.tensor([3]), ids).shape == (1, 3, len(task.chinese))
