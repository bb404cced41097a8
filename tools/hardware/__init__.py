"""What only a GPU can show, in chapters: ``python -m tools.hardware``."""
