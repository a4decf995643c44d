"""Running: a service on a port, until it is told to stop."""

from __future__ import annotations

import math
import signal
import sys
from contextlib import suppress

import uvicorn

from . import logs
from .app import create_app
from .service import Service
from .settings import Settings

_SWITCH_SECONDS = 0.0005
"""How long one thread computes before others have a turn: prices should not hold up whoever answers requests."""
_SECONDS_TO_ANSWER = 10
"""How long, beyond the threshold of runs, requests have to end when the service is stopped."""


def serve(settings: Settings) -> None:
    """Open the service, finish what an earlier process left behind, and answer requests until the process is stopped.

    With several replicas, give each its own `instance`.
    """
    handler = logs.install()
    sys.setswitchinterval(_SWITCH_SECONDS)
    with Service.open(settings) as service:
        if service.frozen is None:
            service.jobs.recover()
        else:
            logs.tell("the ledger is frozen", code=service.frozen.code)
        server = uvicorn.Server(
            uvicorn.Config(
                create_app(service),
                host=settings.host,
                port=settings.port,
                log_config=None,  # our own handler writes what there is to write
                access_log=False,  # addresses with their parameters stay out of logs
                server_header=False,
                proxy_headers=False,
                # A run that takes longer is a job, which is waited for below; whoever sends a request without an end is
                # not waited for.
                timeout_graceful_shutdown=math.ceil(settings.threshold_seconds) + _SECONDS_TO_ANSWER,
            )
        )
        logs.tell("ready", host=settings.host, port=settings.port)
        # uvicorn ends its work on either signal and then raises it again; by then all that is left is to close.
        signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
        with suppress(KeyboardInterrupt):
            server.run()
    handler.flush()
