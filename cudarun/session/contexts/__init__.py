"""Inspection of contexts, scripts of driver calls, and documented facts: ``cudarun ctx``."""
