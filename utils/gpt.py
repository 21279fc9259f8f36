"""Day 9: [to be written]."""
