"""The PTX language: from text to a syntax tree with positions. Independent of devices."""
