"""Interactive pictures: each is a small script, with the Python side that checks its data."""

from utils.show.views.alignment import Looks, alignment
from utils.show.views.decided import Reading, decided
from utils.show.views.draw_and_forecast import draw_and_forecast
from utils.show.views.drawing import drawing
from utils.show.views.fewer_bits import fewer_bits
from utils.show.views.fill_the_gap import fill_the_gap
from utils.show.views.gates import gates
from utils.show.views.heads import heads
from utils.show.views.hidden_words import Guesser, hidden_words
from utils.show.views.live_race import live_race
from utils.show.views.long_word import long_word
from utils.show.views.meaning import meaning
from utils.show.views.next_token import next_token
from utils.show.views.online_softmax import online_softmax
from utils.show.views.patterns import patterns
from utils.show.views.plan_a_training import plan_a_training
from utils.show.views.questions import guess, quiz
from utils.show.views.race import race
from utils.show.views.reading import reading
from utils.show.views.recurrent_writer import recurrent_writer
from utils.show.views.say_and_draw import say_and_draw
from utils.show.views.sliding import sliding
from utils.show.views.stream import stream
from utils.show.views.translator import translator
from utils.show.views.typed_date import typed_date
from utils.show.views.which_language import which_language
from utils.show.views.which_library import which_library
from utils.show.views.which_sentence import which_sentence
from utils.show.views.writer import writer

__all__ = [
    "Guesser",
    "Looks",
    "Reading",
    "alignment",
    "decided",
    "draw_and_forecast",
    "drawing",
    "fewer_bits",
    "fill_the_gap",
    "gates",
    "guess",
    "heads",
    "hidden_words",
    "live_race",
    "long_word",
    "meaning",
    "next_token",
    "online_softmax",
    "patterns",
    "plan_a_training",
    "quiz",
    "race",
    "reading",
    "recurrent_writer",
    "say_and_draw",
    "sliding",
    "stream",
    "translator",
    "typed_date",
    "which_language",
    "which_library",
    "which_sentence",
    "writer",
]
