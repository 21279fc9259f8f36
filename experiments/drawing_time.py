"""How long does a picture take to draw: code by code, or all codes at once?

"one by one": the page's writer samples 36 codes, with Day 9's cache. "at once": an encoder of as
many blocks and the same width, as in `masked_pictures`, predicts all of them in each of its steps.
All have weights as they begin, on which the time doesn't depend. "work" is the operations for so
many pictures of one sentence together. Seconds are of processor time on one thread, the least of
several runs.
"""

from utils.measure.costs import seconds, work
from utils.tasks.drawing import painter, writer
from utils.tasks.masked_drawing import masked_painter, masked_writer

PARAMETERS = {"way": ["one by one", "at once"], "pictures": [1, 16], "steps": 8}
SHORT = {}
SECONDS = ("seconds",)


def measure(way: str, pictures: int, steps: int) -> dict:
    if way == "one by one":
        paint = painter(writer().eval())
    else:
        paint = masked_painter(masked_writer().eval(), steps=steps)
    sentences = ["a red three"] * pictures
    return {
        "work": work(lambda: paint(sentences, 0)).total,
        "seconds": seconds(lambda: paint(sentences, 0), repeats=20, enough=2.0),
    }
