"""The variables of an image as seen by host and devices: ``cudarun managed``."""
