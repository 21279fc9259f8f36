"""The exercises of Day 2: a step, its loop and its way back; gradients, padding, sampling."""

from utils.exercises.checking import Checker

check = Checker.of(__name__)
