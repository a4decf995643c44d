"""Gradients of torch models, clipped by unit: the sums that one step of private training takes from the data.

From the ground up: ``rounding`` (norms never under-estimated), ``forms`` (how gradients are held), ``place`` (where a
batch lies in a tensor), a rule for each kind of call (``linear``, ``convolution``, ``embedding``, ``normalization``,
``recurrent``, ``attention``, ``bare``), ``score`` and ``listening`` (which call is what), ``passing`` (one pass over a
batch), ``sizing`` (how many units at a time), ``rehearsal`` (what is tried on made-up data first), ``batching``,
``clipping``, and ``clipped``, the door.
"""

from .clipped import ClippedGradients, Sums
from .clipping import Clipping
from .made_up import Field
from .rehearsal import check

__all__ = ["ClippedGradients", "Clipping", "Field", "Sums", "check"]
