"""The live figures of the book."""

from tfbook.widgets.attention import AttentionExplorer
from tfbook.widgets.scale import ScaleExplorer
