"""The exercises of Day 5: scaled scores, masks, heads, positions, and whether a link matters."""

from utils.exercises.checking import Checker

check = Checker.of(__name__)
