"""The exercises of Day 5: scaled scores, masks, heads, positions, and what a look is worth."""

from utils.exercises.checking import Checker

check = Checker.of(__name__)
