"""Recordings: files that contain one launch with its code, its memory and its results."""
