"""The line to a witness: what is said over HTTP to another sordino, which remembers this ledger's checkpoints.

::

    GET  /api/v1/ledger/witness?key=…    what is remembered: size, note, spent
    POST /api/v1/ledger/witness          the newest checkpoint, with the proof that it extends the one remembered

What is told is signed by the ledger's key, totals and all, and who told of a ledger first is who may go on.

**Assumes**: the URL is https, or on this machine, so that nobody else answers in the witness' place; whoever can change
the ledger has no owner's token at the witness, as owners there may let a ledger begin anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import httpx

from sordino.errors import FrozenError, LedgerError
from sordino.ledger.canonical import to_base64
from sordino.ledger.keys import SigningKey
from sordino.ledger.told import told_bytes
from sordino.ledger.witness import Seen

ADDRESS = "/api/v1/ledger/witness"
FORGOTTEN, MOVED, NOT_EXTENDED = "SRD-S020", "SRD-S016", "SRD-S017"
"""What a witness may say: it remembers nothing; something else than was thought; what this does not extend."""


class UnreachedError(LedgerError):
    """The witness did not say anything that can be relied on; another time it may."""

    def __init__(self, reason: str, code: str = "SRD-S021") -> None:
        super().__init__(reason, code)


class MovedError(LedgerError):
    """The witness remembers another checkpoint than was thought, as other replicas tell it, too."""


class WitnessLine:
    """One ledger, known by its public key, as one witness is asked about it."""

    def __init__(
        self,
        url: str,
        key: str,
        token: str,
        seconds: float,
        transport: httpx.BaseTransport | None = None,
        signer: SigningKey | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.key = key
        self.signer = signer
        """The ledger's own key, which signs what is told."""
        self._client = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=seconds,
            transport=transport,
            trust_env=False,  # no proxy that the environment names stands between a ledger and its witness
        )

    def remembered(self) -> Seen | None:
        """Return what the witness remembers, or None if it knows nothing of this ledger."""
        status, body = self._ask("GET", params={"key": self.key})
        if status == HTTPStatus.NOT_FOUND and _code(body) == FORGOTTEN:
            return None
        match body:
            case {"size": int(size), "note": str(note), "spent": dict(spent), "anew": bool(anew)} if status == 200:
                return Seen(size, note, {str(name): str(amount) for name, amount in spent.items()}, anew)
        raise self._unclear(status, body)

    def tell(self, seen: Seen, old_size: int, proof: tuple[bytes, ...]) -> None:
        """Let the witness remember `seen`, which extends the `old_size` entries that it remembers.

        Raises `MovedError` if it remembers other than that, and `FrozenError` if it has forgotten this ledger or finds
        that `seen` is of another history.
        """
        said: dict[str, Any] = {
            "key": self.key,
            "note": seen.note,
            "old_size": old_size,
            "proof": [to_base64(each) for each in proof],
            "spent": dict(seen.spent),
            "anew": seen.anew,
            "signature": self._signature(seen, old_size),
        }
        status, body = self._ask("POST", json=said)
        if status == HTTPStatus.OK:
            return
        code = _code(body)
        if code == MOVED:
            raise MovedError("the witness remembers another checkpoint than was thought", MOVED)
        if code == FORGOTTEN:
            raise forgotten(self.url)
        if code == NOT_EXTENDED:
            raise FrozenError(
                f"the witness {self.url} has seen entries that are not in this ledger: it is an old copy, or another "
                "history; put the right copy back, or go on by restore(by, reason)",
                "SRD-L062",
            )
        raise self._unclear(status, body)

    def _signature(self, seen: Seen, old_size: int) -> str:
        if self.signer is None:
            raise LedgerError("only who holds the ledger's key can tell its witness something", "SRD-L006")
        told = told_bytes(self.key, seen.note, old_size, seen.spent, anew=seen.anew)
        return to_base64(self.signer.sign(told))

    def close(self) -> None:
        """Give the connection back."""
        self._client.close()

    def _ask(self, method: str, **words: Any) -> tuple[int, Any]:
        try:
            response = self._client.request(method, ADDRESS, **words)
            return response.status_code, response.json()
        except (httpx.HTTPError, httpx.InvalidURL):
            raise UnreachedError(
                f"the witness {self.url} cannot be reached; check the address and that it runs"
            ) from None
        except ValueError:
            raise UnreachedError(f"what answers at {self.url} is not a witness; check the address") from None

    def _unclear(self, status: int, body: Any) -> UnreachedError:
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            return UnreachedError(
                f"the witness {self.url} does not take this token ({_code(body)}): to be told it needs an auditor's, "
                "and to begin anew an owner's"
            )
        return UnreachedError(f"the witness {self.url} answered {status} ({_code(body)}), which says nothing")


def forgotten(url: str) -> FrozenError:
    """Return the error of a witness that remembers nothing of a ledger that it was told about."""
    return FrozenError(
        f"the witness {url} has forgotten this ledger, so nobody knows whether this is the newest copy; put its memory "
        "back, or restore(by, reason), which burns all that is left",
        "SRD-L068",
    )


def _code(body: Any) -> str:
    error = body.get("error") if isinstance(body, Mapping) else None
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, str) else "no code of ours"
