"""Messages as bytes: fields one after the other, each behind its length. What cannot be read in one way is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sordino.errors import RunError

_LENGTH = 4
REFUSED = "SRD-R021"
"""The code of a message that does not fit the round, or comes from somebody else than it says."""


def refusal(why: str) -> RunError:
    """Return the error of a message that is refused, which says what rule it broke and nothing of what it held."""
    return RunError(f"a message of this federated round was refused: {why}; what was charged stays charged", REFUSED)


def packed(*fields: bytes) -> bytes:
    """Return fields as one message."""
    return b"".join(len(field).to_bytes(_LENGTH, "big") + field for field in fields)


def unpacked(message: bytes) -> list[bytes]:
    """Return the fields of a message; refuse what was not made by `packed`."""
    return list(_fields(message))


def _fields(message: bytes) -> Iterator[bytes]:
    if not isinstance(message, bytes):
        raise refusal("it is not bytes")
    start = 0
    while start < len(message):
        end = start + _LENGTH
        size = int.from_bytes(message[start:end], "big")
        if end + size > len(message):
            raise refusal("it ends in the middle of a field")
        yield message[end : end + size]
        start = end + size


def number_field(number: int) -> bytes:
    """Return a member's number as a field."""
    return number.to_bytes(_LENGTH, "big")


def numbers_field(numbers: Iterable[int]) -> bytes:
    """Return several members' numbers as one field, ascending."""
    return b"".join(map(number_field, sorted(numbers)))


def read_number(field: bytes) -> int:
    """Return the number in a field."""
    if len(field) != _LENGTH:
        raise refusal("a number in it has another length")
    return int.from_bytes(field, "big")


def read_numbers(field: bytes) -> list[int]:
    """Return the numbers in a field; refuse those that do not strictly ascend, as each list is spelled in one way."""
    found = [read_number(field[at : at + _LENGTH]) for at in range(0, len(field), _LENGTH)]
    if found != sorted(set(found)):
        raise refusal("its list of members is not in order, or names one twice")
    return found


def paired(numbered: dict[int, bytes]) -> bytes:
    """Return fields by member's number as one message, ascending."""
    return packed(*(part for number in sorted(numbered) for part in (number_field(number), numbered[number])))


def read_paired(message: bytes) -> dict[int, bytes]:
    """Return the fields of a message by member's number; refuse a number that is there twice."""
    fields = unpacked(message)
    if len(fields) % 2:
        raise refusal("a number in it has no field")
    numbers = read_numbers(b"".join(fields[::2]))
    return dict(zip(numbers, fields[1::2], strict=True))
