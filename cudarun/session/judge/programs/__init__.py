"""The programs that a judge starts under the user's Python; they import nothing of cudarun."""
