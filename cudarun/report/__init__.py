"""What happened, as plain data, and its renderings."""
