"""The dispatcher: dials calls whose time has come, and brings each to its one end."""
