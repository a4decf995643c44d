"""Data that arrives from devices and streams: for those who must not hold what people said.

randomizer   what every way of answering has in common; coins that every language tosses alike
frequency/   how often each of many values is true
question     what a survey asks for; survey: of whom, how often, under which trust; price: what it costs, in words
device       who answers, with an account of its own in a file; wire: reports as they travel
round        a survey that is open and charged; intake: synced before it is acknowledged; kept: Parquet
"""

from .choice import frequency
from .device import Device
from .round import open_round
from .survey import survey

__all__ = ["Device", "frequency", "open_round", "survey"]
