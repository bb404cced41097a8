"""One launch: its buffers, its kernel and its results: ``cudarun launch``."""
