"""``python -m abmarl`` is the command ``abmarl``."""

from abmarl.cli import main

if __name__ == "__main__":
    main()
