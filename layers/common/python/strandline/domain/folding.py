"""Text without its case."""


def fold(text: str) -> str:
    """The text in lower case, every character where it was."""
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    return "".join(small if len(small := c.lower()) == 1 else c for c in text)
