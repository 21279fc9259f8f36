"""The exercises of Day 4: teacher forcing, scores and masks, decoding, and what is measured."""

from utils.exercises.checking import Checker

check = Checker.of(__name__)
