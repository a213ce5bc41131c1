"""Reading files that may be gone."""

import pathlib


def read(path):
    """The text of a file; empty if it is gone."""
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""
