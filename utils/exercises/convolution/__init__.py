"""The exercises of Day 1: a convolution from one place on, pooling, a road around, sizes, reach."""

from utils.exercises.checking import Checker

check = Checker.of(__name__)
