"""Images linked into one by the driver or by nvJitLink: ``cudarun link``."""
