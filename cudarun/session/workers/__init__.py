"""Supervised child processes, where all driver work happens."""
