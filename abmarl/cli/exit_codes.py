"""What the command tells whoever has started it."""

DONE = 0
WRONG = 2  # the user has to change something
INTERRUPTED = 130  # by Ctrl-C, as shells say it: 128 and the number of the signal
