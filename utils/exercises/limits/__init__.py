"""What Day 15 asks."""

from utils.exercises.checking import Checker

check = Checker.of(__name__)
