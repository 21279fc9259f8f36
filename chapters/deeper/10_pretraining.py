# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Day 10, deeper: BERT: learning from hidden words
#
# What goes beyond the evening of [Day 10](../10_pretraining.ipynb). The sections don't need each other: take those that you are curious about.

# %% tags=["setup"]
import convolution_to_attention  # is `utils` this book's?
