# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 8
#
# To the exercises of [Day 8](../08_text_classification.ipynb).

# %%
import convolution_to_attention  # is `utils` this book's?

import torch

from utils.exercises.text_classification import check

# %% [markdown]
# (solution-8-1)=
# ## 8.1 [to be written]


# %%
def row_means(x: torch.Tensor) -> torch.Tensor:
    return x.mean(dim=1)


check("8.1", row_means)
