"""Signed notes and checkpoints: the published ones open, and nothing that was touched does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import ArgumentError, LedgerError
from sordino.ledger.canonical import from_base64, to_base64
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.keys import SigningKey, VerifyingKey
from sordino.ledger.note import open_note, sign
from sordino.ledger.tree import EMPTY_ROOT, LARGEST_SIZE, leaf_hash

# From the tests of the Go project's package golang.org/x/mod/sumdb/note.
PETER = VerifyingKey.parse("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")
PETER_SEED = from_base64("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
ENOCH = VerifyingKey.parse("EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop")
TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
PETER_LINE = (
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
ENOCH_LINE = (
    "— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n"
)
# From C2SP's specification of signed notes.
EXAMPLE = VerifyingKey.parse("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")
EXAMPLE_NOTE = (
    "This is an example message.\n\n— example.com/foo "
    "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
)

KEY = SigningKey.generate("example.org/ledger")
OTHER = SigningKey.generate("example.org/other")
ROOT = leaf_hash(b"root")

texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.just("\n")).map(lambda text: f"{text}\n")


def refused(note: str, *verifiers: VerifyingKey) -> str:
    with pytest.raises(LedgerError) as caught:
        open_note(note, verifiers)
    return caught.value.code


def test_the_published_note_is_signed_and_opened() -> None:
    note = f"{TEXT}\n{PETER_LINE}"
    assert sign(TEXT, SigningKey("PeterNeumann", PETER_SEED)) == note
    assert open_note(note, [PETER]) == TEXT
    assert open_note(EXAMPLE_NOTE, [EXAMPLE]) == "This is an example message.\n"


def test_several_signatures() -> None:
    both = f"{TEXT}\n{PETER_LINE}{ENOCH_LINE}"
    for trusted in ([PETER], [ENOCH], [PETER, ENOCH], [PETER, PETER]):
        assert open_note(both, trusted) == TEXT
    assert refused(both) == "SRD-L006"
    assert refused(both, EXAMPLE) == "SRD-L006"
    assert open_note(f"{TEXT}\n{PETER_LINE}{PETER_LINE}{ENOCH_LINE}{ENOCH_LINE}", [PETER]) == TEXT
    assert open_note(sign(TEXT, KEY, OTHER), [OTHER.verifier]) == TEXT


def test_a_false_signature_of_a_known_key_spoils_the_note() -> None:
    false = f"{PETER_LINE[:60]}ABCD{PETER_LINE[60:]}"
    assert refused(f"{TEXT}\n{false}", PETER) == "SRD-L006"
    assert refused(f"{TEXT}\n{false}{ENOCH_LINE}", PETER, ENOCH) == "SRD-L006"
    assert refused(f"{TEXT}\n{PETER_LINE}{false}", PETER) == "SRD-L006"
    assert open_note(f"{TEXT}\n{false}{ENOCH_LINE}", [ENOCH]) == TEXT, "of an unknown key it is ignored"


def test_a_name_or_an_id_alone_is_not_the_key() -> None:
    misnamed = PETER_LINE.replace("PeterNeumann", "CarmenSandiego")
    other_id = PETER_LINE.replace("x08g", "xxxx")
    assert refused(f"{TEXT}\n{misnamed}", PETER) == "SRD-L006"
    assert refused(f"{TEXT}\n{other_id}", PETER) == "SRD-L006"
    assert open_note(f"{TEXT}\n{misnamed}{other_id}{PETER_LINE}", [PETER]) == TEXT
    imposter = SigningKey.generate(KEY.name)
    assert refused(sign(TEXT, imposter), KEY.verifier) == "SRD-L006"
    assert open_note(sign(TEXT, imposter, KEY), [KEY.verifier]) == TEXT


MALFORMED = {
    "nothing": "",
    "no signature": TEXT,
    "no signature after the blank line": f"{TEXT}\n",
    "no newline at the end": f"{TEXT}\n{PETER_LINE[:-1]}",
    "no newline after the second signature": f"{TEXT}\n{PETER_LINE}{ENOCH_LINE[:-1]}",
    "control character": f"\x01{TEXT}\n{PETER_LINE}",
    "half a surrogate": f"\udcff{TEXT}\n{PETER_LINE}",
    "carriage returns": f"{TEXT}\n{PETER_LINE}".replace("\n", "\r\n"),
    "carriage return at the end": f"{TEXT}\n{PETER_LINE[:-1]}\r\n",
    "tab": f"\t{TEXT}\n{PETER_LINE}",
    "name with a space": f"{TEXT}\n{PETER_LINE.replace('PeterNeumann', 'Bad Name')}",
    "name with a wide space": TEXT + "\n" + PETER_LINE.replace("PeterNeumann", "Bad\u2003Name"),
    "name with a plus": f"{TEXT}\n{PETER_LINE.replace('PeterNeumann', 'Bad+Name')}",
    "no name": f"{TEXT}\n{PETER_LINE.replace('PeterNeumann', '')}",
    "no signature bytes": f"{TEXT}\n— PeterNeumann \n",
    "id only": f"{TEXT}\n— PeterNeumann x08gow==\n",
    "another line": f"{TEXT}\n{PETER_LINE}Unexpected line.\n",
    "another line before": f"{TEXT}\nUnexpected line.\n{PETER_LINE}",
    "blank line after": f"{TEXT}\n{PETER_LINE}\n",
    "no dash": f"{TEXT}\n{PETER_LINE.removeprefix('— ')}",
    "hyphen": f"{TEXT}\n{PETER_LINE.replace('—', '-')}",
    "two spaces": f"{TEXT}\n{PETER_LINE.replace('— ', '—  ')}",
    "space at the end": f"{TEXT}\n{PETER_LINE[:-1]} \n",
    "spare bits": f"{TEXT}\n{PETER_LINE.replace('JnAM=', 'JnAN=')}",
    "no padding": f"{TEXT}\n{PETER_LINE.replace('JnAM=', 'JnAM')}",
    "more padding": f"{TEXT}\n{PETER_LINE.replace('JnAM=', 'JnAM==')}",
    "base64 for addresses": f"{TEXT}\n{PETER_LINE.replace('go/Z', 'go_Z')}",
    "spare bits of a stranger": f"{TEXT}\n{PETER_LINE}{ENOCH_LINE.replace('+QQ=', '+QR=')}",
    "too many signatures": f"{TEXT}\n{PETER_LINE * 101}",
    "no text": PETER_LINE,
    "no blank line": f"{TEXT}{PETER_LINE}",
}


@pytest.mark.parametrize("note", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_notes_are_refused(note: str) -> None:
    assert refused(note, PETER, ENOCH) == "SRD-L005"


def test_a_hundred_signatures_are_fine() -> None:
    assert open_note(f"{TEXT}\n{PETER_LINE * 100}", [PETER]) == TEXT


def test_a_text_may_look_like_a_note() -> None:
    inner = sign("inner\n", KEY)
    note = sign(inner, OTHER)
    assert open_note(note, [OTHER.verifier]) == inner
    assert refused(note, KEY.verifier) == "SRD-L006", "the inner signature is text"
    assert open_note(sign("\n", KEY), [KEY.verifier]) == "\n"
    assert open_note(sign("a\n\n\n", KEY), [KEY.verifier]) == "a\n\n\n"


@given(texts)
def test_every_text_comes_back(text: str) -> None:
    assert open_note(sign(text, KEY), [OTHER.verifier, KEY.verifier]) == text


@given(st.data())
def test_no_changed_letter_goes_unseen(data: st.DataObject) -> None:
    note = sign("a ledger\n12\nroot\n", KEY)
    place = data.draw(st.integers(0, len(note) - 1))
    letter = data.draw(st.characters(exclude_characters=note[place]))
    with pytest.raises(LedgerError):
        open_note(note[:place] + letter + note[place + 1 :], [KEY.verifier])
    with pytest.raises(LedgerError):
        open_note(note[:place] + note[place + 1 :], [KEY.verifier])


@pytest.mark.parametrize("text", ["", "abc", "abc\r\n", "a\0\n", "\ud800\n", "a\x1b[2J\n"], ids=ascii)
def test_texts_that_cannot_be_notes_are_not_signed(text: str) -> None:
    with pytest.raises(ArgumentError):
        sign(text, KEY)


def test_somebody_must_sign() -> None:
    with pytest.raises(ArgumentError):
        sign("a\n")


def test_two_keys_under_one_name_and_id_are_refused() -> None:
    twin = VerifyingKey(KEY.name, OTHER.verifier.public)
    object.__setattr__(twin, "id", KEY.verifier.id)  # as if somebody had searched for a collision of four bytes
    with pytest.raises(ArgumentError, match="two different keys"):
        open_note(sign(TEXT, KEY), [KEY.verifier, twin])


# Checkpoints


def test_the_published_checkpoint_is_read() -> None:
    # From C2SP's specification of checkpoints.
    text = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
    checkpoint = Checkpoint.parse(text)
    assert checkpoint.origin == "example.com/behind-the-sofa"
    assert checkpoint.size == 20852163
    assert to_base64(checkpoint.root) == "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
    assert checkpoint.text() == text


def test_a_checkpoint_is_signed_and_opened() -> None:
    checkpoint = Checkpoint(KEY.name, 7, ROOT)
    assert Checkpoint.open(checkpoint.sign(KEY), KEY.verifier) == checkpoint
    assert Checkpoint.open(checkpoint.sign(OTHER, KEY), KEY.verifier) == checkpoint
    with pytest.raises(LedgerError, match="not by a key that is trusted"):
        Checkpoint.open(checkpoint.sign(OTHER), KEY.verifier)


def test_a_checkpoint_of_another_log_is_refused_though_the_key_signed_it() -> None:
    note = Checkpoint("example.org/another", 7, ROOT).sign(KEY)
    with pytest.raises(LedgerError, match=r"of the log example\.org/another"):
        Checkpoint.open(note, KEY.verifier)
    assert Checkpoint.open(note, KEY.verifier, origin="example.org/another").size == 7


def test_a_signed_text_that_is_no_checkpoint_is_refused() -> None:
    with pytest.raises(LedgerError, match="not a checkpoint"):
        Checkpoint.open(sign("hello\n", KEY), KEY.verifier)


lines = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)


@given(lines, st.integers(1, LARGEST_SIZE), st.binary(min_size=32, max_size=32), st.lists(lines, max_size=3))
def test_every_checkpoint_comes_back(origin: str, size: int, root: bytes, extensions: list[str]) -> None:
    checkpoint = Checkpoint(origin, size, root, tuple(extensions))
    assert Checkpoint.parse(checkpoint.text()) == checkpoint


R = to_base64(ROOT)
NOT_CHECKPOINTS = {
    "nothing": "",
    "two lines": "a\n1\n",
    "no newline at the end": f"a\n1\n{R}",
    "blank line at the end": f"a\n1\n{R}\n\n",
    "empty extension": f"a\n1\n{R}\n\nb\n",
    "no origin": f"\n1\n{R}\n",
    "leading zero": f"a\n01\n{R}\n",
    "plus": f"a\n+1\n{R}\n",
    "minus": f"a\n-1\n{R}\n",
    "minus zero": f"a\n-0\n{R}\n",
    "space": f"a\n1 \n{R}\n",
    "underscore": f"a\n1_0\n{R}\n",
    "hexadecimal": f"a\n0x1\n{R}\n",
    "float": f"a\n1.0\n{R}\n",
    "digits of another script": f"a\n١\n{R}\n",
    "digits of two scripts": f"a\n1١\n{R}\n",
    "too large": f"a\n{LARGEST_SIZE + 1}\n{R}\n",
    "endless": f"a\n{'9' * 5000}\n{R}\n",
    "short root": f"a\n1\n{to_base64(ROOT[:-1])}\n",
    "long root": f"a\n1\n{to_base64(ROOT + b'x')}\n",
    "root in hexadecimal": f"a\n1\n{ROOT.hex()}\n",
    "root with spare bits": f"a\n1\n{R[:-2]}{chr(ord(R[-2]) + 1)}=\n",
    "root without padding": f"a\n1\n{R[:-1]}\n",
    "empty log with another root": f"a\n0\n{R}\n",
    "carriage returns": f"a\r\n1\r\n{R}\r\n",
}


@pytest.mark.parametrize("text", NOT_CHECKPOINTS.values(), ids=NOT_CHECKPOINTS.keys())
def test_texts_that_are_no_checkpoints_are_refused(text: str) -> None:
    with pytest.raises(LedgerError) as caught:
        Checkpoint.parse(text)
    assert caught.value.code == "SRD-L007"


def test_the_empty_log() -> None:
    empty = Checkpoint(KEY.name, 0, EMPTY_ROOT)
    assert Checkpoint.open(empty.sign(KEY), KEY.verifier) == empty


@pytest.mark.parametrize(
    ("origin", "size", "root", "extensions"),
    [
        ("", 1, ROOT, ()),
        ("a\nb", 1, ROOT, ()),
        ("a", -1, ROOT, ()),
        ("a", LARGEST_SIZE + 1, ROOT, ()),
        ("a", 1, b"", ()),
        ("a", 0, ROOT, ()),
        ("a", 1, ROOT, ("",)),
        ("a", 1, ROOT, ("b\rc",)),
    ],
)
def test_checkpoints_that_cannot_be_are_not_built(
    origin: str, size: int, root: bytes, extensions: tuple[str, ...]
) -> None:
    with pytest.raises(ArgumentError):
        Checkpoint(origin, size, root, extensions)
