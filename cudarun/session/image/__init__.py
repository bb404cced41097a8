"""Images read from files, and diagnosis of their refusal."""
