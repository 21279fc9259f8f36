"""Helpers for tests that run a notebook in a kernel of its own."""

from nbclient import NotebookClient
from nbformat import NotebookNode


def execute(notebook: NotebookNode, client: type[NotebookClient] = NotebookClient, **settings):
    """Run all cells, which get their outputs; a kernel may be late beside other programs."""
    client(
        notebook, kernel_name="python3", startup_timeout=600, iopub_timeout=600, **settings
    ).execute()
