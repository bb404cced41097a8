"""The six commands: options become a request, the session answers it, the report is rendered."""
