"""SIP: our own user agent, which calls softphones and trunks."""
