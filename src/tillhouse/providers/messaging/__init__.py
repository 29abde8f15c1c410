"""Messaging providers: a sandbox and WhatsApp, behind one Protocol."""
