"""Contexts shown, scripted and verified: ``cudarun ctx``."""
