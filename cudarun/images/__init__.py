"""The kinds and contents of image files: PTX, cubin, fatbin. Independent of drivers."""
