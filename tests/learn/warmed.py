"""What a server of processes imports: one training was run here, so all that a training loads is loaded."""

from pathlib import Path
from tempfile import TemporaryDirectory

from learn.killed import train

with TemporaryDirectory() as folder:
    train(Path(folder))
