"""Recorded launches, replayed: their memory at its addresses, their objects and results."""
