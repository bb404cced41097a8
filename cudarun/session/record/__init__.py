"""``cudarun record``: a launch of another program as a file."""
