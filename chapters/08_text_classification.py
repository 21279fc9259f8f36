# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 8: [to be written]
#
# **Today's question:** [to be written]
#
# After today you can
#
# - [to be written].
#
# Each point is tested by an exercise or a cell. The day builds on [to be written]. An evening is enough: at most 55 minutes
# to read and 30 to write. What goes beyond it stands on [a deeper page](deeper/08_text_classification.ipynb).

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import torch

from utils import classification
from utils.exercises.text_classification import check
from utils.exercises.progress import checklist
from utils.show.plotting import use_book_style

use_book_style()

# %% [markdown]
# **Five questions about yesterday**
#
# [to be written], in data/questions.toml.

# %% [markdown]
# ## Where we stand
#
# [to be written]

# %% [markdown]
# ## The idea
#
# [to be written]

# %% [markdown]
# ## Step by step
#
# [to be written]
#
# ### [to be written]
#
# ```{exercise} One merge
# :label: exercise-8-1
#
# *10 minutes.* **Your turn.** [to be written]: count the pairs of neighbours in all words, and merge the most frequent one.
# ([Solution](solutions/08_text_classification.ipynb#solution-8-1))
# ```


# %%
def merge_step(words: list[list[int]], counts: list[int], new: int):
    """Merge the most frequent pair of neighbours into the token `new`; of equals, the lowest.

    words: distinct words, each a list of tokens; the i-th is counts[i] times in the text.
    Returns: the pair, and the words with `new` in its place, replaced from left to right.
    """
    raise NotImplementedError


merge_step = check("8.1", merge_step)

# %% [markdown]
# ```{exercise} A new word
# :label: exercise-8-2
#
# *10 minutes.* **Your turn.** [to be written]: encode a word that was not there when the merges were learned.
# ([Solution](solutions/08_text_classification.ipynb#solution-8-2))
# ```


# %%
def encode_word(word: list[int], merges: list[tuple[int, int]]) -> list[int]:
    """Encode a word, a list of bytes, by merges of which the i-th makes token 256 + i."""
    raise NotImplementedError


encode_word = check("8.2", encode_word)

# %% [markdown]
# ## Is it right?
#
# [to be written]

# %% [markdown]
# ## Train it
#
# [to be written]

# %% [markdown]
# ## Look inside
#
# [to be written]

# %% [markdown]
# ## Show someone
#
# [to be written]

# %% [markdown]
# ## Where it breaks
#
# [to be written]

# %% [markdown]
# ## What we found
#
# [to be written]

# %% [markdown]
# ## Exercises
#
# *As long as you like.* Fill in the functions and run the cells; the check under each one tells you
# what is wrong, if something is. Solutions stand on [a page of their own](solutions/08_text_classification.ipynb).

# %% [markdown]
# ## Checklist and tomorrow
#
# The points from the top of the page, ticked when you have passed the exercises that test them.

# %% tags=["view"]
points = {"[to be written]": ["8.1", "8.2"]}
checklist(points)

# %% [markdown]
# **Tomorrow:** [to be written].

# %% [markdown]
# ## Further reading
#
# - [to be written].
