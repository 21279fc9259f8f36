"""The exercises of Day 3: steps of gated layers, their conventions, memory, and a fair choice."""

from utils.exercises.checking import Checker

check = Checker.of(__name__)
