"""Keys: the published ones, files that only their owner reads, and texts that are nearly keys."""

from __future__ import annotations

import copy
import os
import pickle
import stat
import traceback
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import ArgumentError, LedgerError
from sordino.ledger import keys
from sordino.ledger.keys import SigningKey, VerifyingKey, is_key_name

# From the tests of the Go project's package golang.org/x/mod/sumdb/note.
PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETER_PRIVATE = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
# From the specification of signed notes by C2SP.
EXAMPLE = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"


def saved(place: Path, content: str | bytes) -> Path:
    place.write_bytes(content if isinstance(content, bytes) else content.encode())
    place.chmod(0o600)
    return place


@pytest.mark.parametrize("text", [PETER, EXAMPLE])
def test_published_verifying_keys(text: str) -> None:
    key = VerifyingKey.parse(text)
    assert key.text == text
    assert f"{key.name}+{key.id.hex()}+" == text[: text.rindex("+") + 1]


def test_a_published_signing_key_has_the_published_public_half(tmp_path: Path) -> None:
    key = SigningKey.load(saved(tmp_path / "key", f"{PETER_PRIVATE}\n"))
    assert key.verifier.text == PETER
    assert SigningKey.load(saved(tmp_path / "bare", PETER_PRIVATE)).verifier == key.verifier


def test_the_first_test_of_the_signature_standard() -> None:
    # RFC 8032, section 7.1, test 1.
    key = SigningKey("x", bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
    assert key.verifier.public.hex() == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    signature = key.sign(b"")
    assert signature.hex().startswith("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155")
    assert key.verifier.verify(b"", signature)


def test_every_mangling_of_a_verifying_key_is_refused() -> None:
    parts = [PETER[start:end] for start in range(len(PETER)) for end in range(start + 1, len(PETER) + 1)]
    shifted = [PETER[:at] + chr(ord(PETER[at]) + 1) + PETER[at + 1 :] for at in range(len(PETER))]
    for text in {*parts, *shifted} - {PETER}:
        with pytest.raises(LedgerError):
            VerifyingKey.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",  # too long, with a fitting id
        "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",  # another algorithm, with a fitting id
        "PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",  # another spelling of the id
        f"{PETER}\n",
        f" {PETER}",
        f"{PETER}=",
        PETER.replace("+c74f20a3", "+0c74f20a3"),
        PETER.replace("PeterNeumann", "Peter Neumann"),
        PETER.replace("PeterNeumann", ""),
        PETER.replace("+", "-"),
        PETER_PRIVATE,
        "",
    ],
)
def test_texts_that_are_nearly_keys_are_refused(text: str) -> None:
    with pytest.raises(LedgerError) as caught:
        VerifyingKey.parse(text)
    assert caught.value.code == "SRD-L003"


def test_every_mangling_of_a_signing_key_is_refused_without_a_word_of_it(tmp_path: Path) -> None:
    key = PETER_PRIVATE.encode()
    manglings = [key[:at] for at in range(len(key))] + [key[at:] for at in range(1, len(key))]
    manglings += [key[:at] + bytes([key[at] + 1]) + key[at + 1 :] for at in range(len(key))]
    secret = PETER_PRIVATE.rpartition("+")[2][4:-4]
    for content in [*manglings, key + b"\n\n", b" " + key, key + b"\r\n", b"\xff" + key, b""]:
        with pytest.raises(LedgerError) as caught:
            SigningKey.load(saved(tmp_path / "key", content))
        assert caught.value.code == "SRD-L004"
        assert secret not in "".join(traceback.format_exception(caught.value))


def test_a_new_key_signs_and_nothing_else_verifies() -> None:
    key, other = SigningKey.generate("example.org/ledger"), SigningKey.generate("example.org/ledger")
    signature = key.sign(b"hi")
    assert len(signature) == 64
    assert key.verifier.verify(b"hi", signature)
    assert not key.verifier.verify(b"ho", signature)
    assert not other.verifier.verify(b"hi", signature)
    assert not key.verifier.verify(b"hi", b"")
    assert not key.verifier.verify(b"hi", signature + b"\0")
    for at in range(64):
        changed = bytes([*signature[:at], signature[at] ^ 1, *signature[at + 1 :]])
        assert not key.verifier.verify(b"hi", changed)
    assert key.verifier != other.verifier
    assert key.name == "example.org/ledger"


def test_bytes_that_are_no_point_are_no_key() -> None:
    with pytest.raises(LedgerError, match="SRD-L003"):
        VerifyingKey("x", b"\x02" + bytes(31))


def test_a_signature_has_one_form() -> None:
    # Adding the order of the group to the second half gives a form that lax implementations take as well.
    order = 2**252 + 27742317777372353535851937790883648493
    key = SigningKey.generate("x")
    signature = key.sign(b"hi")
    other = signature[:32] + (int.from_bytes(signature[32:], "little") + order).to_bytes(32, "little")
    assert not key.verifier.verify(b"hi", other)


def test_a_key_comes_back_from_its_file(tmp_path: Path) -> None:
    key, place = SigningKey.generate("é.example/Ω"), tmp_path / "ledger.key"
    umask = os.umask(0)
    try:
        key.save(place)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [place], "nothing is left lying about"
    again = SigningKey.load(place)
    assert again.verifier == key.verifier
    assert again.sign(b"x") == key.sign(b"x")


def test_a_key_is_never_replaced(tmp_path: Path) -> None:
    place = tmp_path / "ledger.key"
    first = SigningKey.generate("a")
    first.save(place)
    with pytest.raises(LedgerError, match="exists"):
        SigningKey.generate("b").save(place)
    assert SigningKey.load(place).verifier == first.verifier
    dangling = tmp_path / "link"
    dangling.symlink_to(tmp_path / "nowhere")
    with pytest.raises(LedgerError, match="exists"):
        SigningKey.generate("b").save(dangling)
    assert set(tmp_path.iterdir()) == {place, dangling}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o620, 0o602, 0o610, 0o777])
def test_a_key_that_others_can_open_is_refused(tmp_path: Path, mode: int) -> None:
    place = tmp_path / "ledger.key"
    SigningKey.generate("a").save(place)
    place.chmod(mode)
    with pytest.raises(LedgerError, match=f"mode {mode:o}"):
        SigningKey.load(place)


def test_places_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="No such file"):
        SigningKey.load(tmp_path / "missing")
    with pytest.raises(LedgerError, match="directory"):
        SigningKey.load(tmp_path)
    with pytest.raises(LedgerError, match="cannot be written"):
        SigningKey.generate("a").save(tmp_path / "missing" / "key")


def test_a_full_disk_leaves_no_part_of_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(keys.os, "fsync", full)
    with pytest.raises(LedgerError, match="No space left"):
        SigningKey.generate("a").save(tmp_path / "key")
    assert not list(tmp_path.iterdir())


def test_a_signing_key_does_not_show_or_copy_itself() -> None:
    key = SigningKey.generate("a")
    assert repr(key) == f"SigningKey(a+{key.verifier.id.hex()})"
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(LedgerError):
            copied(key)


SPACES = [" ", "\t", "\n", "\r", "\v", "\f", "\x1c", "\x85", "\xa0", "\u1680", "\u2003", "\u2028", "\u2029", "\u3000"]


@pytest.mark.parametrize(
    "name", ["", "a+b", "+", *(f"a{space}b" for space in SPACES), "a\x00", "a\x1b", "a\ud800"], ids=ascii
)
def test_names_with_spaces_or_plus_are_refused(name: str) -> None:
    assert not is_key_name(name)
    with pytest.raises(ArgumentError):
        SigningKey.generate(name)


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="+"), min_size=1),
    st.binary(min_size=32, max_size=32),
)
def test_every_other_name_comes_back(name: str, seed: bytes) -> None:
    key = SigningKey(name, seed).verifier
    assert VerifyingKey.parse(key.text) == key


@pytest.mark.parametrize("wrong", [b"", bytes(31), bytes(33), "text"])
def test_keys_of_another_length_are_refused(wrong: bytes) -> None:
    with pytest.raises(ArgumentError):
        VerifyingKey("a", wrong)
    with pytest.raises(ArgumentError):
        SigningKey("a", wrong)
