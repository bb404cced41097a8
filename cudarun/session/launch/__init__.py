"""One launch: bind, fill, launch, verify, copy back: ``cudarun launch``."""
