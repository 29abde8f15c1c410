"""The frame around each page: navigation by rights, the places of a person, the catalogue."""
