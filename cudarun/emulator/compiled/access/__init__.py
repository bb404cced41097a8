"""Accesses to memory, copies, and barrier objects."""
