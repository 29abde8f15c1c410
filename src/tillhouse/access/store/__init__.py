"""The statements of the access room, a file per subject."""
