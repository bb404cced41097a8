"""An image as read from a file, and the diagnosis of its refusal."""
