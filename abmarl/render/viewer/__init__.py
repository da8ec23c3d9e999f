"""A window on something to show: controls, map, panel."""
