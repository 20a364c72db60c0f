"""Small trained models that figures need; each was made by a script of ``scripts/``."""
