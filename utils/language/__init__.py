"""Day 9: language models. Predict the next token at every position, and write."""
