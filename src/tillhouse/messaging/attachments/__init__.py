"""Files that customers send, and are sent: kept in the database, served as downloads."""
