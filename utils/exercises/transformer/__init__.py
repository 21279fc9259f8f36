"""The exercises of Day 6: what enters the blocks, norms, masks, the loss, the schedule."""

from utils.exercises.checking import Checker

check = Checker.of(__name__)
