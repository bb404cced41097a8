"""The comparison of measured times."""
