"""Settings: all that a service is told when it starts, from a YAML file and from environment variables.

::

    database: /var/lib/sordino/budget.db      # or postgresql://…
    witness: elsewhere/sordino.witness
    data: data
    production: true

Each may also stand in the environment, as ``SORDINO_DATABASE``; the environment is stronger than the file.

**Guarantee**: in production nothing starts that would weaken what is promised: no debug switch, no development mode of
Python's, no cookies without TLS, no witness beside the ledger.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sordino.data.strict_yaml import parse
from sordino.errors import ArgumentError

from .refusals import SettingsError

PREFIX = "SORDINO_"
FILE = "sordino.yaml"


@dataclass(frozen=True)
class Settings:
    """What a service is told. Times are in seconds, sizes in bytes."""

    database: str = "sordino.db"
    """A path (SQLite) or a URL of PostgreSQL: where the ledger is, and what the service keeps beside it."""
    key: str | None = None
    """The file of the ledger's signing key; beside the database if not given."""
    witness: str | None = None
    """Who remembers the newest checkpoint: a file, or the address of another sordino, as https://witness.example.org;
    a file beside the database if not given, which only production refuses."""
    files: str | None = None
    """The directory of large releases; beside a ledger in a file if left out, and needed for one on a server."""
    witness_token_file: str | None = None
    """The file with an auditor's token at a witness that is an address; or SORDINO_WITNESS_TOKEN."""
    witness_seconds: float = 5.0
    """How long a run waits for the word of a witness that is an address."""
    witness_grace_seconds: float = 0.0
    """How long questions are answered though that witness is silent; after that they are refused, uncharged."""
    cosigners: tuple[str, ...] = ()
    """Witnesses that cosign this ledger (C2SP tlog-witness): each its address, a space, and its key."""
    witness_for: tuple[str, ...] = ()
    """The keys of other ledgers whose checkpoints this service cosigns, at /witness/add-checkpoint."""
    cosigning_key: str | None = None
    """The file of the key by which it does; made if it is missing."""
    data: str = "."
    """The directory that files of data sets must lie in."""
    url: str | None = None
    """How browsers call this service, as https://privacy.example.org."""
    host: str = "127.0.0.1"
    port: int = 8000
    instance: str = field(default_factory=socket.gethostname)
    """What this process is called among replicas."""
    production: bool = False
    debug: bool = False
    """Whether logs tell what went wrong inside in full, which may hold data. Never in production."""
    kinds: tuple[str, ...] = ()
    """Further kinds of releases, each as module:NAME."""
    public_transparency: bool = False
    """Whether anybody may read the transparency pages."""
    oidc_issuer: str | None = None
    oidc_client: str | None = None
    oidc_secret_file: str | None = None
    """The file with the client's secret; none for a public client, which PKCE protects."""
    session_secret_file: str | None = None
    """The file of the secret that signs what browsers keep; beside the database if not given."""
    session_hours: int = 12
    slot_seconds: float = 0.0
    """Results of runs come out at multiples of this only, so that their time says little; 0 is off."""
    threshold_seconds: float = 5.0
    """A run that takes longer becomes a job."""
    heartbeat_seconds: float = 2.0
    """How often a job in a process of its own says that it lives; after five times that it counts as interrupted."""
    workers: int = 4
    """Runs at a time; and as many jobs in processes of their own."""
    price_processes: int = 0
    """Processes that find prices, for services that are asked for many; 0: the service's own."""
    queue: int = 64
    """Runs that may wait for their turn."""
    rate_per_minute: int = 600
    """Requests that one subject may make in a minute."""
    rate_burst: int = 120
    """Requests that one subject may make at once."""
    largest_request: int = 1 << 20

    def __post_init__(self) -> None:
        for name in _LISTS:
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        for name, (check, words) in _RULES.items():
            if not check(getattr(self, name)):
                raise SettingsError(f"the setting {name} must be {words}", "SRD-S010")
        if self.witness_url is not None and not _private(self.witness_url):
            raise SettingsError(
                "witness must be a file, or the address of another sordino that begins with https:// (http:// on this "
                "machine alone), as a token travels to it",
                "SRD-S010",
            )
        if len({key.partition("+")[0] for key in self.witness_for}) < len(self.witness_for):
            raise SettingsError("witness_for names two keys of one origin, which only one can be right", "SRD-S010")
        if (self.oidc_issuer is None) != (self.oidc_client is None):
            raise SettingsError("oidc_issuer and oidc_client go together", "SRD-S010")
        if self.oidc_issuer is not None and self.url is None:
            raise SettingsError("a login by OIDC needs url, to which the issuer sends browsers back", "SRD-S010")
        if self.production:
            self._check_production()

    def _check_production(self) -> None:
        for wrong, remedy in (
            (self.debug, "debug is on, which lets data into logs; turn it off"),
            (_developing(), "Python runs in a development mode, which prints what may be data; start it plainly"),
            (self.witness is None, "no witness is set; name a file elsewhere than the ledger's own directory"),
            (
                self._witnessed_beside(),
                "the witness lies in the ledger's own directory, and an old copy of it would bring the old witness "
                "along; name a file elsewhere, or another sordino",
            ),
            (
                not (self.url or "").startswith("https://"),
                "url must begin with https://: cookies and tokens travel to it",
            ),
        ):
            if wrong:
                raise SettingsError(f"this does not start in production: {remedy}", "SRD-S011")

    def _witnessed_beside(self) -> bool:
        if self.witness is None or self.witness_url is not None or "://" in self.database:
            return False
        return Path(self.witness).resolve().parent == Path(self.database).resolve().parent

    @property
    def witness_url(self) -> str | None:
        """The witness, if it is an address."""
        return self.witness if self.witness is not None and "://" in self.witness else None

    @property
    def secure_cookies(self) -> bool:
        """Whether cookies travel over TLS alone."""
        return (self.url or "").startswith("https://")

    @property
    def beside(self) -> Path:
        """The directory of files that belong to this service and are not named."""
        return Path(self.data if "://" in self.database else Path(self.database).parent)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
        """Return the settings in a file (``sordino.yaml`` here, if there is one) and in the environment."""
        given = _read(Path(path)) if path is not None else _read(Path(FILE)) if Path(FILE).exists() else {}
        for name, text in (os.environ if environ is None else environ).items():
            word = name.removeprefix(PREFIX).lower()
            if name.startswith(PREFIX) and word in _KINDS:
                given[word] = parse(text, name) if _KINDS[word] != "str" else text
        return cls(**given)

    def with_changes(self, **changes: Any) -> Settings:
        """Return the same settings but for what is named."""
        return replace(self, **changes)


_LISTS = ("kinds", "cosigners", "witness_for")
_KINDS = {each.name: str(each.type).removesuffix(" | None") for each in fields(Settings)}


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _are(holding: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(isinstance(each, str) and holding in each for each in value)


def _between(least: float, most: float, *kinds: type) -> Callable[[Any], bool]:
    return lambda value: _is(*kinds)(value) and least <= value <= most


_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    **{
        name: (lambda value: value is None or (isinstance(value, str) and bool(value)), "a text that is not empty")
        for name, kind in _KINDS.items()
        if kind == "str"
    },
    **{name: (_is(bool), "true or false") for name, kind in _KINDS.items() if kind == "bool"},
    "kinds": (_are(":"), "a list of texts as module:NAME"),
    "cosigners": (_are(" "), "a list of texts, each an address, a space and a key"),
    "witness_for": (_are("+"), "a list of verifying keys"),
    "port": (_between(0, 65535, int), "a port: 0 to 65535"),
    "session_hours": (_between(1, 24 * 31, int), "hours: 1 to 744"),
    "slot_seconds": (_between(0, 3600, int, float), "seconds: 0 to 3600"),
    "threshold_seconds": (_between(0, 600, int, float), "seconds: 0 to 600"),
    "witness_seconds": (_between(0.1, 60, int, float), "seconds: 0.1 to 60"),
    "witness_grace_seconds": (_between(0, 86400, int, float), "seconds: 0 to 86400"),
    "heartbeat_seconds": (_between(0.05, 60, int, float), "seconds: 0.05 to 60"),
    "workers": (_between(1, 256, int), "a number: 1 to 256"),
    "price_processes": (_between(0, 64, int), "a number: 0 to 64"),
    "queue": (_between(0, 10**5, int), "a number: 0 to 100000"),
    "rate_per_minute": (_between(1, 10**7, int), "a number: 1 to 10000000"),
    "rate_burst": (_between(1, 10**7, int), "a number: 1 to 10000000"),
    "largest_request": (_between(1024, 1 << 26, int), "bytes: 1024 to 67108864"),
}


def _read(path: Path) -> dict[str, Any]:
    try:
        found = parse(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError):
        raise SettingsError(f"{path} cannot be read as UTF-8 text; check the path", "SRD-S010") from None
    except ArgumentError as error:
        raise SettingsError(error.message, "SRD-S010") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise SettingsError(f"{path} must be a mapping: one setting on each line, as name: value", "SRD-S010")
    for word in found:
        if word not in _KINDS:
            near = get_close_matches(word, _KINDS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_KINDS)}"
            raise SettingsError(f"{path} has the setting {word!r}, which does not exist; {hint}", "SRD-S010")
    return found


def _private(url: str) -> bool:
    """Return whether nobody between here and a URL can read what is sent to it."""
    try:
        found = urlsplit(url)
    except ValueError:
        return False
    local = found.hostname in ("localhost", "127.0.0.1", "::1")
    return bool(found.hostname) and (found.scheme == "https" or (found.scheme == "http" and local))


def _developing() -> bool:
    return bool(sys.flags.dev_mode or sys.flags.inspect or os.environ.get("PYTHONASYNCIODEBUG"))
