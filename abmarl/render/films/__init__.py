"""Frames as files: MP4, GIF and PNG, each in its place only when it is whole."""
