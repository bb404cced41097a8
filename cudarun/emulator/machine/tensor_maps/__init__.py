"""Tensor maps, and the copies that they describe."""
