"""Read a published model from its files: BERT, GPT-2 or Llama, into either half."""

from tfbook.pretrained.load import load, minilm
from tfbook.pretrained.model import PretrainedModel
