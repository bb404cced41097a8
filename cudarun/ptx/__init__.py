"""The PTX language: text to a syntax tree with positions. Pure; knows nothing of devices."""
