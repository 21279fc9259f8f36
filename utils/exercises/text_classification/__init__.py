"""The exercises of Day 8: tokens, what a text is about, and which words decided."""

from utils.exercises.checking import Checker

check = Checker.of(__name__)
