"""The commands: each parses its options into a request, runs it and renders the report."""
