"""Results: one documented dataclass each, which is also its JSON document and its schema."""
