"""``judge``: whole submissions in Python, in confined processes, against a reference in its own."""
