"""Studies with a stored record; ``python -m tfbook.experiments.NAME`` repeats one."""
