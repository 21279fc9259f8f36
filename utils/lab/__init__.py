"""The bench on which the book's concepts are taught: data, training, plots, claims."""
