"""Day 8: classification. A text of any length becomes one answer."""
