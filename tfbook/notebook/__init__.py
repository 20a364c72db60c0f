"""What the pages use: verdicts, shown source, plots, the palette, progress bars."""
