"""Prio3."""
from .prio3 import Prio3
from .count import Count
from .summing import Sum
from .histogram import Histogram
