"""Day 12: [to be written]."""
