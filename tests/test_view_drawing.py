"""Day 1's views: what the page computes of a drawing and of a photograph equals Python."""

import json
import re

import nbformat
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from browser import AS_IN_JUPYTERLAB
from torch.nn import functional as F

from utils import ROOT
from utils.data.pictures import digits
from utils.data.strokes import INK, RASTER, SIDE, WIDTH, drawn_digits, rasterise
from utils.show import views

C = 8
KERNELS = {"edges": [[1, 0, -1], [2, 0, -2], [1, 0, -1]], "itself": [[0, 0, 0], [0, 1, 0], [0] * 3]}


def network(seed: int = 0) -> dict:
    """Weights of a reader that has not been trained, with biases."""
    draw = torch.Generator().manual_seed(seed)
    shapes = {"first": (C, 1, 3, 3), "second": (C, C, 3, 3), "third": (C, C, 3, 3)}
    shapes |= {"fourth": (2 * C, C, 3, 3), "dense": (10, 32 * C)}
    return {
        name: (
            torch.randn(shape, generator=draw) * (2 / shape[1:].numel()) ** 0.5,
            0.3 * torch.randn(shape[0], generator=draw),
        )
        for name, shape in ((name, torch.Size(shape)) for name, shape in shapes.items())
    }


def stages(net: dict, picture: torch.Tensor) -> list[torch.Tensor]:
    """The maps of a picture (1, 8, 8), and what the network says, (10,)."""
    first = F.conv2d(picture[None], *net["first"], padding=1).relu()
    second = F.conv2d(first, *net["second"], padding=1).relu()
    third = F.conv2d(second, *net["third"], padding=1).relu()
    last = F.conv2d(F.max_pool2d(third, 2), *net["fourth"], padding=1).relu()
    scores = last.flatten(1) @ net["dense"][0].T + net["dense"][1]
    return [first[0], third[0], last[0], scores.softmax(1)[0]]


def pixels(tab) -> torch.Tensor:
    """Sixteenths of ink, as the page says them of each pixel."""
    labels = tab.locator(".view-squares button").evaluate_all("all => all.map((b) => b.ariaLabel)")
    found = [re.fullmatch(r"row (\d), column (\d): (\d+) of 16", label) for label in labels]
    assert [(int(f[1]), int(f[2])) for f in found] == [
        (i, j) for i in range(1, 9) for j in range(1, 9)
    ]
    return torch.tensor([int(f[3]) for f in found]).view(8, 8)


def reading(tab) -> tuple[str, dict[int, int]]:
    """What the page says, and per cent by digit."""
    rows = [row.split() for row in tab.locator(".view-bars li").all_inner_texts()]
    return tab.locator(".view-seen").inner_text(), {
        int(row[0]): int(row[1].rstrip("%")) for row in rows
    }


@pytest.fixture
def opened(alone):
    def open_in(theme: str, net: dict, drawings=None):
        views.drawing(net, drawings or drawn_digits()[::3], RASTER)
        return alone(theme)

    return open_in


def test_thirty_digits_are_drawn_three_of_each_inside_the_square():
    drawings = drawn_digits()
    assert [digit for digit, _ in drawings] == [k for k in range(10) for _ in range(3)]
    for _, strokes in drawings:
        assert all(len(stroke) > 1 for stroke in strokes)
        assert all(0 <= value <= 100 for stroke in strokes for point in stroke for value in point)


def test_strokes_become_pictures_like_those_of_the_data():
    for _, strokes in drawn_digits():
        picture = rasterise(strokes)
        assert picture.shape == (1, 8, 8) and picture.dtype == torch.float32
        assert ((16 * picture) == (16 * picture).round()).all()
        assert 0.25 < picture.mean() < 0.4  # 0.306 in the data
        assert picture[0, 0].any() and picture[0, 7].any()  # as high as the bitmap
        assert not picture[0, :, 0].any() and not picture[0, :, 7].any()  # 20 of 32 wide


def test_ink_and_width_are_those_of_the_training_digits():
    images = digits("file order").train.images
    assert abs(INK / SIDE**2 - images.mean()) < 0.001
    columns = images.mean(dim=(0, 1, 2))
    left, right = (SIDE - WIDTH) // 2, (SIDE + WIDTH) // 2  # columns 6 to 26 of 32
    assert columns[left // 4 : -(-right // 4)].sum() > 0.99 * columns.sum()


def test_place_and_size_of_a_drawing_do_not_matter():
    _, strokes = drawn_digits()[6]
    smaller = [[(0.5 * x + 40, 0.5 * y + 10) for x, y in stroke] for stroke in strokes]
    assert torch.equal(rasterise(strokes), rasterise(smaller))


def test_a_point_and_a_dash_are_pictures_too():
    for strokes in ([[(50, 50)]], [[(20, 50), (80, 50)]]):
        picture = rasterise(strokes)
        assert torch.isfinite(picture).all() and picture.any()
        assert torch.equal(picture, picture.flip(2)) and torch.equal(picture, picture.flip(1))


@pytest.mark.parametrize("strokes", [[], [[]], [[(0.0, float("nan"))]]])
def test_what_is_no_drawing_is_refused(strokes):
    with pytest.raises(ValueError, match="one point"):
        rasterise(strokes)


def test_the_text_is_the_same_whatever_was_learned(shown):
    for seed in (0, 1):
        views.drawing(network(seed), drawn_digits()[:1], RASTER)
    one, other = shown
    assert one["text/plain"] == other["text/plain"] == "View: draw a digit, or take one of 0."
    assert one["text/html"] != other["text/html"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"second": (torch.zeros(C, 1, 3, 3), torch.zeros(C))}, r"'second' .*\(8, 8, 3, 3\)"),
        ({"dense": (torch.zeros(10, 5), torch.zeros(10))}, r"'dense' .* \(10, 256\)"),
        ({"first": (torch.full((C, 1, 3, 3), torch.inf), torch.zeros(C))}, "'first' .* finite"),
        ({"fourth": (torch.zeros(2 * C, C, 3, 3), torch.zeros(C))}, r"'fourth' .* \(16,\)"),
    ],
)
def test_weights_that_do_not_fit_are_refused(shown, change, said):
    with pytest.raises(ValueError, match=said):
        views.drawing(network() | change, drawn_digits(), RASTER)
    assert not shown


def test_a_network_of_few_maps_and_a_view_without_drawings_are_refused(shown):
    few = {"first": (2, 1, 3, 3), "second": (2, 2, 3, 3), "third": (2, 2, 3, 3)}
    few |= {"fourth": (4, 2, 3, 3), "dense": (10, 64)}
    small = {name: (torch.zeros(shape), torch.zeros(shape[0])) for name, shape in few.items()}
    for net, drawings, said in ((small, drawn_digits(), " 2 .* 4 maps"), (network(), [], " 0 dr")):
        with pytest.raises(ValueError, match=said):
            views.drawing(net, drawings, RASTER)
    assert not shown


def test_the_page_reads_thirty_drawings_as_python_does(opened):
    net, said = network(), set()
    for first in range(3):
        drawings = drawn_digits()[first::3]
        tab = opened("light", net, drawings)
        for number, (_, strokes) in enumerate(drawings):
            tab.locator(".view-ready button").nth(number).click()
            picture = rasterise(strokes)
            assert torch.equal(pixels(tab), (16 * picture[0]).int())
            chances = stages(net, picture)[-1]
            text, shares = reading(tab)
            best = chances.argmax().item()
            assert text == f"It reads a {best}."
            assert all(abs(100 * chances[k].item() - share) < 1 for k, share in shares.items())
            said.add(best)
    assert len(said) > 1  # else this would compare nothing


def test_the_lessons_own_network_reads_27_of_thirty_drawings():
    notebook = nbformat.read(ROOT / "chapters" / "01_convolution.ipynb", as_version=4)
    bundles = [out.get("data", {}) for cell in notebook.cells for out in cell.get("outputs", ())]
    (page,) = (
        "".join(bundle["text/html"])
        for bundle in bundles
        if "".join(bundle.get("text/plain", "")).startswith("View: draw a digit")
    )
    assert len(page) < 500_000
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', page)
    weights = json.loads(data)["network"]
    net = {name: tuple(map(torch.tensor, pair)) for name, pair in weights.items()}
    said = [stages(net, rasterise(strokes))[-1].argmax().item() for _, strokes in drawn_digits()]
    assert sum(k == digit for k, (digit, _) in zip(said, drawn_digits(), strict=True)) >= 27


def test_the_maps_are_those_of_the_network(opened):
    net = network()
    tab = opened("light", net)
    picture = rasterise(drawn_digits()[0].strokes)
    read = """canvas => {
        const image = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return [...image.data].filter((_, i) => i % 4 === 0); }"""
    canvases = tab.locator(".view-maps canvas").all()
    for layer, maps in enumerate(stages(net, picture)[:3]):
        greys = 255 * maps[:8] / maps[:8].max()
        for canvas, expected in zip(canvases[8 * layer : 8 * layer + 8], greys, strict=True):
            got = torch.tensor(canvas.evaluate(read), dtype=torch.float32).view_as(expected)
            assert (got - expected).abs().max() < 2


def draw_with_the_mouse(tab, strokes) -> None:
    place = tab.locator(".view-pad").bounding_box()
    for stroke in strokes:
        for step, (x, y) in enumerate(stroke):
            at = place["x"] + place["width"] * x / 100, place["y"] + place["height"] * y / 100
            tab.mouse.move(*at)
            if step == 0:
                tab.mouse.down()
        tab.mouse.up()


def test_a_digit_is_drawn_with_the_mouse(opened):
    net = network()
    tab = opened("light", net)
    tab.get_by_role("button", name="Clear").click()
    assert tab.locator(".view-seen").inner_text() == "Draw a digit."
    assert not pixels(tab).any() and tab.locator(".view-bars li").count() == 0
    _, strokes = drawn_digits()[21]
    draw_with_the_mouse(tab, strokes)
    tab.wait_for_function("document.querySelectorAll('.view-bars li').length > 0")
    assert (pixels(tab) - 16 * rasterise(strokes)[0]).abs().mean() < 0.7
    chances = stages(net, pixels(tab)[None] / 16)[-1]
    assert reading(tab)[0] == f"It reads a {chances.argmax()}."


def test_pixels_are_changed_by_keyboard_also_in_jupyterlab(opened):
    net = network()
    tab = opened("light", net)
    tab.evaluate(AS_IN_JUPYTERLAB)
    before = pixels(tab)
    tab.get_by_label("row 1, column 1:").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowLeft", "Enter"):
        tab.keyboard.press(key)
    after = pixels(tab)
    changed = (after != before).nonzero().tolist()
    assert changed == [[2, 0]] and after[2, 0] == 16
    chances = stages(net, after[None] / 16)[-1]
    assert reading(tab)[0] == f"It reads a {chances.argmax()}."
    tab.keyboard.press("Enter")
    assert torch.equal(pixels(tab)[2, 0], torch.tensor(0))


def test_one_pixel_is_changed_that_costs_the_answer_most(opened):
    net = network()
    tab = opened("light", net)
    before = rasterise(drawn_digits()[0].strokes)
    one = torch.eye(64, dtype=torch.bool).view(64, 1, 8, 8)
    ways = torch.where(one, (before <= 0.5).float(), before)
    said = stages(net, before)[-1].argmax()
    worst = torch.stack([stages(net, way)[-1][said] for way in ways]).argmin().item()
    tab.get_by_role("button", name="Fool it with one pixel").click()
    tab.wait_for_selector(".view-changed")
    i, j = divmod(worst, 8)
    (changed,) = (pixels(tab) != (16 * before[0]).int()).nonzero().tolist()
    assert changed == [i, j]
    now = stages(net, ways[worst])[-1].argmax()
    still = "still reads" if now == said else "reads"
    assert reading(tab)[0] == f"With row {i + 1}, column {j + 1} changed, it {still} a {now}."
    tab.locator(".view-ready button").first.click()
    assert tab.locator(".view-changed").count() == 0 and reading(tab)[0] == f"It reads a {said}."


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(opened, theme):
    tab = opened(theme, network())
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []


# A kernel over a photograph -----------------------------------------------------------------------


@pytest.fixture
def slid(alone):
    def open_in(theme: str):
        photo = (
            torch.rand(12, 16, generator=torch.Generator().manual_seed(0)).mul(100).round() / 100
        )
        views.sliding(photo, KERNELS, place=(4, 5))
        return alone(theme), photo

    return open_in


def answer(tab) -> tuple[int, int, float]:
    said = tab.locator(".view-seen").inner_text()
    row, column, value = re.fullmatch(
        r"At row (\d+), column (\d+) the answer is (-?[\d.]+)\.", said
    ).groups()
    return int(row), int(column), float(value)


def test_the_answer_is_the_convolution_at_that_place(slid):
    tab, photo = slid("light")
    for kernel in KERNELS.values():
        if kernel != KERNELS["edges"]:
            tab.get_by_label("Kernel", exact=True).locator("input").nth(1).check(force=True)
        maps = F.conv2d(photo[None, None], torch.tensor(kernel).float()[None, None])[0, 0]
        for row, column in ((4, 5), (0, 0), (9, 13)):
            for name, value in (("row", row), ("column", column)):
                tab.get_by_label(name, exact=True).fill(str(value))
            got = answer(tab)
            assert got[:2] == (row, column) and abs(got[2] - maps[row, column]) < 0.006


def test_a_weight_can_be_changed_and_the_map_follows(slid):
    tab, photo = slid("light")
    white = """() => { const map = document.querySelectorAll("canvas")[1];
        const blank = document.createElement("canvas"), context = blank.getContext("2d");
        [blank.width, blank.height] = [map.width, map.height];
        context.fillStyle = "white";
        context.fillRect(0, 0, blank.width, blank.height);
        return map.toDataURL() === blank.toDataURL(); }"""
    assert not tab.evaluate(white)
    for field in tab.locator(".view-kernel input").all():
        field.fill("0")
    assert tab.evaluate(white) and answer(tab)[2] == 0
    tab.get_by_label("weight in row 2, column 3").fill("2")
    assert abs(answer(tab)[2] - 2 * photo[5, 7]) < 0.006


def test_the_window_follows_the_pointer(slid):
    tab, _ = slid("light")
    place = tab.locator("canvas").first.bounding_box()
    tab.mouse.move(place["x"] + place["width"] * 10.5 / 16, place["y"] + place["height"] * 3.5 / 12)
    assert answer(tab)[:2] == (2, 9)
    tab.mouse.move(place["x"] + place["width"] - 2, place["y"] + place["height"] - 2)
    assert answer(tab)[:2] == (9, 13)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_photograph_is_accessible_fits_a_phone_and_takes_the_keyboard(slid, theme):
    tab, _ = slid(theme)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    faults = Axe().run(tab).response["violations"]
    assert [(fault["id"], fault["nodes"][0]["html"]) for fault in faults] == []
    tab.evaluate(AS_IN_JUPYTERLAB)
    tab.get_by_label("row", exact=True).focus()
    tab.keyboard.press("ArrowRight")
    assert answer(tab)[:2] == (5, 5)


@pytest.mark.parametrize(
    ("photo", "kernels", "place", "said"),
    [
        (torch.zeros(3, 8, 8), KERNELS, (0, 0), "photograph .* 1"),
        (torch.full((8, 8), 1.5), KERNELS, (0, 0), "photograph .* 1"),
        (torch.full((8, 8), torch.nan), KERNELS, (0, 0), "photograph .* 1"),
        (torch.zeros(8, 8), {"two": [[1, 2], [3, 4]]}, (0, 0), "'two' .* 3 .* 3 "),
        (torch.zeros(8, 8), KERNELS, (6, 0), r"\(6, 0\) .* 8 × 8"),
        (torch.zeros(8, 8), {}, (0, 0), r"\(0, 0\) .* 8 × 8"),
    ],
)
def test_photographs_and_kernels_that_do_not_fit_are_refused(shown, photo, kernels, place, said):
    with pytest.raises(ValueError, match=said):
        views.sliding(photo, kernels, place)
    assert not shown
