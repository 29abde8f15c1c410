"""The actions of messaging, one module per object."""
