"""Whatever is sent to the interface: no defect, no status and no content that its document does not know.

The requests are made by Schemathesis from the document alone, and sent with each person's key.
"""
