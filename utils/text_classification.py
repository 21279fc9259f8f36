"""Day 8: [to be written]."""
