"""The exercises of Day 2: recurrences, gradients through time, padding, perplexity, sampling."""

from utils.exercises.checking import Checker

check = Checker.of(__name__)
