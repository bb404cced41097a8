"""Textures and surfaces: their instructions, their texels in memory, coordinates and filters."""
