"""Many launches: ``cudarun launch --spec``."""
