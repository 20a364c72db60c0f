"""Images, sound and melodies as sequences of vectors or tokens."""

from tfbook.data.samples import frames, images, patches, sound
