"""Refunds of orders: money that was given back, by an amount or by lines."""
