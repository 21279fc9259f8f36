# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 9, deeper: [to be written]
#
# What goes beyond the evening of [Day 9](../09_gpt.ipynb). The sections don't need each other: take those that you are curious about.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import torch

# %% [markdown]
# ## [to be written]
#
# *1 minute.* **What is [to be written]?**

# %% tags=["evidence"]
torch.ones(2, 3).mean(dim=1)
