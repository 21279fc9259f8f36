# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 12: [to be written]
#
# **Today's question:** [to be written]
#
# After today you can
#
# - [to be written].
#
# Each point is tested by an exercise or a cell. The day builds on [to be written]. An evening is enough: at most 55 minutes
# to read and 45 to write. Everything beyond that is on [a deeper page](deeper/12_vision.ipynb).

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import torch

from utils import vision
from utils.exercises.vision import check
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
# ```{exercise} [to be written]
# :label: exercise-vision-means
#
# *4 minutes.* **Your turn.** [to be written]: the mean of each row.
# ([Solution](solutions/12_vision.ipynb#solution-vision-means))
# ```


# %%
def row_means(x: torch.Tensor) -> torch.Tensor:
    """The mean of each row. Shapes: x (B, D) to (B,)."""
    raise NotImplementedError


row_means = check("vision_means", row_means)

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
# what is wrong, if something is. Solutions are on [a page of their own](solutions/12_vision.ipynb).

# %% [markdown]
# ## Checklist and tomorrow
#
# The points from the top of the page, ticked when you have passed the exercises that test them.

# %% tags=["view"]
points = {"[to be written]": ["vision_means"]}
checklist(points)

# %% [markdown]
# **Tomorrow:** [to be written].

# %% [markdown]
# ## Further reading
#
# - [to be written].
