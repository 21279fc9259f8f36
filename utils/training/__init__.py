"""How a model learns from examples."""
