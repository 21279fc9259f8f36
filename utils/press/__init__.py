"""How the pages of the book are made."""
