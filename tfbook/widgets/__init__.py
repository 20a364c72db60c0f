"""The live figures of the book."""

from tfbook.widgets.attention import AttentionExplorer
from tfbook.widgets.costs import CostExplorer
from tfbook.widgets.depth import DepthExplorer
from tfbook.widgets.distances import DistanceExplorer
from tfbook.widgets.feed_forward import FeedForwardExplorer
from tfbook.widgets.heads import HeadsExplorer
from tfbook.widgets.layer_steps import GradientSteps, LayerSteps
from tfbook.widgets.lookup import SoftLookup
from tfbook.widgets.mask import MaskExplorer
from tfbook.widgets.position import PositionExplorer
from tfbook.widgets.reach import ReachExplorer
from tfbook.widgets.roofline import RooflineExplorer
from tfbook.widgets.scale import ScaleExplorer
from tfbook.widgets.shared_heads import SharedHeads
from tfbook.widgets.split import SplitExplorer
from tfbook.widgets.streaming import StreamingExplorer
from tfbook.widgets.training import TrainingExplorer
from tfbook.widgets.your_text import YourText
