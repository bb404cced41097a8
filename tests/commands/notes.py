"""Notes of launches, as they stand on stderr."""

from __future__ import annotations

BY_ORDER = "note: bound by order: the image has no parameter names\n"
"""That of a launch from PTX whose arguments have names."""
