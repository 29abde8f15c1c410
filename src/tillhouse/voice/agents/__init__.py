"""Agents: how a call is made and led."""
