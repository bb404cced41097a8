"""The state of a warp: its registers, its memory, and the places where its code calls back."""
