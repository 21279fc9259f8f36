"""The command of `make experiments`."""

import argparse
import sys

from utils.measure.experiments import ExperimentError, is_stale, missing, names, run, verify


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m utils.measure.experiments",
        description="Run the long experiments whose results are stale.",
    )
    parser.add_argument("names", nargs="*", help="only these (default: all)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--all", action="store_true", help="measure anew what is not stale, too")
    what.add_argument("--list", action="store_true", help="say what is stale, and run nothing")
    what.add_argument(
        "--verify",
        action="store_true",
        help="where code changed, compare a short form of it with the commit that measured",
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="of a Dask cluster, as in tcp://127.0.0.1:8786"
    )
    options = parser.parse_args()
    for name in options.names or names():
        stale = is_stale(name)
        if options.verify and stale:
            print(f"{name}: {verify(name)}", flush=True)
        elif (options.all or stale and not options.list) and (what := missing(name)):
            print(f"{name}: left as it is stored. {what}", flush=True)
        elif options.all or stale and not options.list:
            seconds = sum(run(name, anew=options.all, scheduler=options.scheduler).seconds)
            print(f"{name}: measured in {seconds:.1f} s of processor time", flush=True)
        else:
            print(f"{name}: {'stale' if stale else 'up to date'}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except ExperimentError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped. What was measured is kept: the next run goes on from there.")
