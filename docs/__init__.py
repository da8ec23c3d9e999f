"""The documentation: pages in Markdown, and what they are built with."""
