"""Speed and memory of the book's layers, side by side with the library's: `make bench`."""
