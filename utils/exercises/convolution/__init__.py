"""The exercises of Day 1: sizes and counts, convolutions by hand, pooling, normalisation, reach."""

from utils.exercises.checking import Checker

check = Checker.of(__name__)
