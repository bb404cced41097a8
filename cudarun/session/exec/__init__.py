"""``cudarun exec``: a program of others on the emulated device."""
