"""Who carries messages to customers: a sandbox and WhatsApp, behind one Protocol."""
