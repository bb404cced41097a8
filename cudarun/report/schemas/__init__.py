"""The public shapes of JSON documents, field by field.

``tools/generate_json_schemas.py`` makes the JSON Schemas in ``docs/reference/schemas`` of these
declarations, `cudarun.report.documents` returns their values. Names of fields are public. Nothing
is imported from here at run time: that would take longer than to write a document.
"""
