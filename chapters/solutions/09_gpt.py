# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions of Day 9
#
# To the exercises of [Day 9](../09_gpt.ipynb).

# %%
import convolution_to_attention  # is `utils` this book's?

import torch

from utils.exercises.gpt import check

# %% [markdown]
# (solution-9-1)=
# ## 9.1 [to be written]


# %%
def row_means(x: torch.Tensor) -> torch.Tensor:
    return x.mean(dim=1)


check("9.1", row_means)
