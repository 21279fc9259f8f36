"""What Day 10 asks."""

from utils.exercises.checking import Checker

check = Checker.of(__name__)
