"""Processes, their collectives, and the ways to divide a layer among them."""
