"""Loading of images into a driver: ``cudarun load``, and the first step of every launch."""
