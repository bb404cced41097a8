"""Grids that a programmatic dependent launch can overlap with."""

from __future__ import annotations


class PrimaryGrid:
    """A grid that nothing has waited for since its launch."""
