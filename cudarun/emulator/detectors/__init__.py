"""Observers of launches that find what is wrong with a kernel, or count what it does."""
