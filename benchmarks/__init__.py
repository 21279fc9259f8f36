"""Speed and memory of the book's layers, side by side with the library's: `make bench`."""

import os

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or PyTorch's profiler announces each start
