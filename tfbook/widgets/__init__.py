"""The live figures of the book."""

from tfbook.widgets.attention import AttentionExplorer
