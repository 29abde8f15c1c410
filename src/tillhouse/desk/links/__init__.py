"""Payment links: who has not paid, and a page where they do."""
