# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 12, deeper: [to be written]
#
# This page goes beyond the evening of [Day 12](../12_vision.ipynb). The sections are independent: take those that you are curious about.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?

import torch

# %% [markdown]
# ## [to be written]
#
# *1 minute.* **What is [to be written]?**

# %% tags=["evidence"]
torch.ones(2, 3).mean(dim=1)
