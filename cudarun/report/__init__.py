"""Reports of commands, and their renderers."""
