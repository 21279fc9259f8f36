"""How an exercise checks itself and names the mistake.

An exercise is a file in `utils/exercises/<day>/`, read from top to bottom: a docstring that says
what is asked, the reference, `exercise = Exercise(reference)`, and under it the stages and the
mistakes, each a decorated function. It is called as its file is, which no other in the book is.
"""

from utils.exercises.checking.checker import Checker
from utils.exercises.checking.counting import looping
from utils.exercises.checking.exercise import Exercise, Mistake, Prediction, Stage, random

__all__ = ["Checker", "Exercise", "Mistake", "Prediction", "Stage", "looping", "random"]
