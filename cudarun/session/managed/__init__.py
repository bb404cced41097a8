"""Variables of an image as host and devices see them: ``cudarun managed``."""
