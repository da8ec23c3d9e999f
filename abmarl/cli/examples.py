"""Examples below the help of a command."""


def epilog(examples: dict[str, str]) -> str:
    """Lay out examples.

    Args:
        examples: command line -> what it does.

    Returns:
        The text for an ``epilog``; the backspace in front keeps its lines apart.
    """
    lines = [f"  {line}\n      {why}" for line, why in examples.items()]
    return "\n".join(["\b", "Examples:", *lines])
