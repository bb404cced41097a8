"""The expressions of ``--check``, ``--print`` and dimensions: grammar, evaluation, checks."""
