"""The exercises of Day 7: sparse patterns, fewer keys, linear attention, tiles and caches."""

from utils.exercises.checking import Checker

check = Checker.of(__name__)
