"""What the pages are built with; their tests use it, too."""
