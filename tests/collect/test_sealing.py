"""What is sealed opens for its own key, survey and use alone; keys lie in a file of their owner's; parties are two."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path

import pytest

from sordino.collect.parties import parties
from sordino.collect.sealing import OVERHEAD, PartyKey, public_key, seal
from sordino.errors import ArgumentError

# RFC 9180, A.1.1: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM, base mode, the first encryption.
INFO = bytes.fromhex("4f6465206f6e2061204772656369616e2055726e")
PRIVATE = bytes.fromhex("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8")
PUBLIC = bytes.fromhex("3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d")
ENCAPSULATED = bytes.fromhex("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431")


def test_a_message_opens_for_its_key_and_what_it_is_about():
    key, other = PartyKey.fresh(), PartyKey.fresh()
    sealed = seal(key.public, b"about", b"message")
    assert len(sealed) == len(b"message") + OVERHEAD
    assert key.opened(b"about", sealed) == b"message"
    assert seal(key.public, b"about", b"message") != sealed  # nothing tells that two are alike
    assert key.opened(b"another", sealed) is None
    assert other.opened(b"about", sealed) is None
    for place in range(len(sealed)):
        assert key.opened(b"about", sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :]) is None
    for wrong in (b"", sealed[:-1], sealed + b"x", sealed[:20]):
        assert key.opened(b"about", wrong) is None


def test_the_key_schedule_is_that_of_the_standard():
    """The public half by RFC 9180's vector, and a message sealed by HPKE spelled out here by HKDF and AES alone."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    key = PartyKey(PRIVATE)
    assert key.public == PUBLIC
    ephemeral = X25519PrivateKey.generate()
    encapsulated = ephemeral.public_key().public_bytes_raw()
    shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(key.public))
    kem, suite = b"KEM" + bytes.fromhex("0020"), b"HPKE" + bytes.fromhex("002000010001")
    secret = expand(kem, extract(kem, b"", b"eae_prk", shared), b"shared_secret", encapsulated + key.public, 32)
    context = b"\x00" + extract(suite, b"", b"psk_id_hash", b"") + extract(suite, b"", b"info_hash", INFO)
    schedule = extract(suite, secret, b"secret", b"")
    box = AESGCM(expand(suite, schedule, b"key", context, 16))
    sealed = encapsulated + box.encrypt(expand(suite, schedule, b"base_nonce", context, 12), b"Beauty is truth", b"")
    assert key.opened(INFO, sealed) == b"Beauty is truth"
    assert key.opened(INFO, ENCAPSULATED + sealed[32:]) is None


def extract(suite: bytes, salt: bytes, label: bytes, given: bytes) -> bytes:
    import hmac

    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + given, "sha256")


def expand(suite: bytes, secret: bytes, label: bytes, info: bytes, length: int) -> bytes:
    import hmac

    said = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return hmac.digest(secret, said + b"\x01", "sha256")[:length]


def test_two_parties_have_a_secret_in_common_for_each_use():
    one, other, third = PartyKey.fresh(), PartyKey.fresh(), PartyKey.fresh()
    assert one.between(other.public, b"use") == other.between(one.public, b"use")
    found = {one.between(other.public, b"use"), one.between(other.public, b"uses"), one.between(third.public, b"use")}
    assert len(found | {other.between(third.public, b"use")}) == 4
    with pytest.raises(ArgumentError, match="SRD-C716"):
        one.between(bytes(32), b"use")  # a point by which everybody has the same secret


def test_a_key_is_its_owner_s_file_made_once(tmp_path: Path):
    path = tmp_path / "place" / "party.key"
    found: list[PartyKey] = []
    threads = [threading.Thread(target=lambda: found.append(PartyKey.at(path))) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len({each.text for each in found}) == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["party.key"]
    assert path.read_bytes() not in repr(found[0]).encode() + str(found[0].__dict__.keys()).encode()
    assert "private" not in repr(found[0])
    path.write_bytes(b"short")
    with pytest.raises(ArgumentError, match="SRD-C716"):
        PartyKey.at(path)


@pytest.mark.parametrize("text", ["", "x" * 42 + "!", "é" * 43, 7, None, "A" * 42 + "B"])
def test_what_is_no_key_is_refused(text: object):
    with pytest.raises(ArgumentError, match="SRD-C716"):
        public_key(text)


@pytest.mark.parametrize(
    "url", ["http://example.org", "ftp://x", "https://", "https://u:p@x", "https://x/?a", "https://x:port", "x" * 600]
)
def test_parties_are_reached_where_nobody_reads_along(url: str):
    one, other = ({"url": "https://a.example.org/", "key": PartyKey.fresh().text} for _ in range(2))
    assert parties([one, other])[0].url == "https://a.example.org"
    assert json.dumps([each.to_plain() for each in parties([one, other])])
    for wrong in ([one, other | {"url": url}], [one], [one, one], [one, other, one], [one, 7], [one, {"url": ""}]):
        with pytest.raises(ArgumentError, match="SRD-C714"):
            parties(wrong)
