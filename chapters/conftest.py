"""Notebooks under nbval are compared within a tolerance: tests/project/outputs.py."""

from outputs import pytest_itemcollected  # noqa: F401

collect_ignore = ["conftest.py"]  # its doctests: there is another conftest
