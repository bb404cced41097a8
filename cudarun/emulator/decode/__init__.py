"""Decoding: from the syntax tree to slots, basic blocks and functions over lanes."""
