"""Fused forms of attention, and what they cost: bytes, time, memory."""
