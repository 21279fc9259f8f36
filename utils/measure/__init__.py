"""How a claim is measured."""
