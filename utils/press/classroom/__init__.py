"""Teaching with the book: a folder for a class, and what the class hands in."""
