"""Execution that a debugger controls: the observer of launches, and the state of their threads."""
