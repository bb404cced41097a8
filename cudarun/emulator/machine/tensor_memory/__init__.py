"""Tensor memory and its instructions, ``tcgen05`` (PTX manual 9.7.16)."""
