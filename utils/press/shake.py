"""Does each finding hold where the reader sits? Pages run with weights moved by their last bit.

`python -m utils.press.shake` (`make shake`) runs pages in kernels whose optimisers move each
float32 weight when they take it, in turn under three settings of the processor, and stores what
each finding compared. A finding has to hold in every run, with room to spare.
"""

import argparse
import sys
from pathlib import Path

from utils.measure.experiments import ExperimentError
from utils.measure.shaking.margins import complaints
from utils.measure.shaking.results import name_of, stored
from utils.measure.shaking.running import shake, verify
from utils.press.notebooks import LessonError, differences, find, scripts


def in_step(pages: list[Path]) -> None:
    """Raise a LessonError if a notebook, which is what runs, is not what its script says now."""
    behind = [name_of(page) for page in pages if differences(page)]
    if behind:
        raise LessonError(f"Not in step with their scripts: {', '.join(behind)}. `make execute`.")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m utils.press.shake", description=__doc__)
    parser.add_argument("pages", nargs="*", help="such as deeper/01_convolution (default: all)")
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--anew", action="store_true", help="also what has runs of this code")
    parser.add_argument(
        "--verify",
        action="store_true",
        help="where code changed, compare one run with the commit's",
    )
    options = parser.parse_args()
    pages = [page for name in options.pages for page in find(name)] or scripts()
    in_step(pages)
    if options.verify:
        for page in pages:
            print(f"{name_of(page)}: {verify(page)}", flush=True)
        return
    shake(pages, range(1, options.runs + 1), options.anew)
    for page in pages:
        held = stored(page)
        trains = "" if held["moves"] else ", trains nothing"
        print(f"{name_of(page)}: {len(held['runs'])} runs{trains}")
        for complaint in complaints(held):
            print("   ", complaint)


if __name__ == "__main__":
    try:
        main()
    except (ExperimentError, LessonError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped.")
