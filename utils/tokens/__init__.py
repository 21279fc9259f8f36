"""Day 8: tokens. Text becomes the symbols that a model reads."""
