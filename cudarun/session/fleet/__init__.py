"""Runs of one spec on many machines: ``cudarun fleet``."""
