"""What is raised for bad input."""


class Error(ValueError):
    """Bad input: what is wrong, where, and the values that clash."""

    __module__ = "blockspan"
