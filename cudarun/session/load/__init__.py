"""Images loaded into a driver: ``cudarun load``, and what every launch does first."""
