"""Linking of images by the driver or by nvJitLink: ``cudarun link``."""
