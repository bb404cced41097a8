"""The parts of a module's text. The process that compiles imports nothing else of this package."""

PART = "; part\n"
"""What is between them: modules that are compiled one by one."""
