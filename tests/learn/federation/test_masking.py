"""Masked sums: exact whoever drops out, silent about everything else, and refused where somebody meddles."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from learn.federation.playing import IDENTITIES, SESSION, Play, members_of, terms_of
from sordino.errors import ArgumentError, RunError
from sordino.learn.federation.collector import Collector
from sordino.learn.federation.keys import Identity
from sordino.learn.federation.member import KEYS, PHASES, Member
from sordino.learn.federation.packing import number_field, numbers_field, packed, paired, read_paired, unpacked
from sordino.learn.federation.populations import population
from sordino.learn.federation.recipes import recipe_for
from sordino.learn.federation.roster import Roster
from sordino.learn.federation.shamir import at_zero, evaluated, rebuilt, shares

DICE = np.random.default_rng(11)
SMALL_ORDER = bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")


def numbers(members: int, length: int = 5) -> dict[int, np.ndarray]:
    return {n: DICE.integers(-(2**20), 2**20, length) for n in range(members)}


@pytest.mark.parametrize("bits", [32, 64])
def test_the_sum_is_exact(bits: int) -> None:
    given = numbers(5, 300)
    found = Play(terms_of(5, 4, length=300, bits=bits), given).run()
    assert found.tolist() == sum(given.values()).tolist()


def test_every_pattern_of_dropping_out() -> None:
    """Each of three members falls silent at each phase: the sum of who sent numbers comes out, or nothing does."""
    given, came = numbers(3), 0
    for silent in product(range(len(PHASES) + 1), repeat=3):
        play = Play(terms_of(3, 2), given, dict(enumerate(silent)))
        staying = [sum(each > place for each in silent) for place in range(len(PHASES))]
        if min(staying) < 2:
            with pytest.raises(RunError, match="came to nothing"):
                play.run()
            continue
        came += 1
        survivors = [n for n, each in enumerate(silent) if each > PHASES.index("masked")]
        assert play.run().tolist() == sum(given[n] for n in survivors).tolist()
    assert came == 1 + 3 * 5


@pytest.mark.parametrize("place", range(len(PHASES)))
def test_two_of_six_drop_out_at_any_phase(place: int) -> None:
    given = numbers(6)
    for gone in combinations(range(6), 2):
        found = Play(terms_of(6, 4), given, dict.fromkeys(gone, place)).run()
        left = [n for n in range(6) if n not in gone or place > PHASES.index("masked")]
        assert found.tolist() == sum(given[n] for n in left).tolist()


def test_fewer_than_the_threshold_of_shares_fit_every_secret_equally() -> None:
    """By enumeration in a small field: whatever the secret, each pair of values at two points comes exactly once."""
    prime = 7
    for points in combinations((1, 2, 3), 2):
        for secret in range(prime):
            seen = Counter(
                tuple(evaluated([secret, a, b], x, prime) for x in points) for a, b in product(range(prime), repeat=2)
            )
            assert set(seen.values()) == {1}
            assert len(seen) == prime**2
    for secret, a, b in product(range(prime), repeat=3):
        assert at_zero({x: evaluated([secret, a, b], x, prime) for x in (1, 3, 5)}, prime) == secret


def test_shares_give_the_secret_back_and_too_few_do_not() -> None:
    secret = bytes(range(32))
    given = shares(secret, range(5), 3)
    for some in combinations(given, 3):
        assert rebuilt({n: given[n] for n in some}, 3) == secret
    assert rebuilt({n: given[n] for n in (0, 1)}, 3) is None
    assert rebuilt(given | {1: given[2]}, 3) != secret


def test_what_the_server_sees_is_uniform_whatever_is_under_it() -> None:
    """Masked numbers of all-zero members pass for uniform bytes; the same test rejects the numbers themselves."""
    length = 20_000
    play = Play(terms_of(3, 2, length=length), {n: np.zeros(length, np.int64) for n in range(3)})
    assert not play.run().any()
    for message in play.said["masked"].values():
        assert _uniformity(message) > 1e-6
    assert _uniformity(bytes(4 * length)) < 1e-6
    pair = np.frombuffer(play.said["masked"][0], "<u4") - np.frombuffer(play.said["masked"][1], "<u4")
    assert _uniformity(pair.tobytes()) > 1e-6


def _uniformity(message: bytes) -> float:
    return float(stats.chisquare(np.bincount(np.frombuffer(message, np.uint8), minlength=256)).pvalue)


def test_masks_are_new_in_every_session() -> None:
    given = {n: np.zeros(50, np.int64) for n in range(3)}
    first, second = (Play(terms_of(3, 2, length=50, session=session), given) for session in (bytes(32), b"\1" * 32))
    first.run(), second.run()
    assert first.said["masked"] != second.said["masked"]


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("change", ["cut", "flipped", "empty", "of another session"])
def test_one_member_that_sends_something_else_is_a_drop_out(phase: str, change: str) -> None:
    """The other three go on. Flipped numbers or shares cannot be told from real ones: they spoil the sum alone."""
    given = numbers(4)
    other = Play(terms_of(4, 3, session=b"\7" * 32), given)
    other.run()

    def meddle(number: int, message: bytes) -> bytes:
        ways = {
            "cut": message[:-1],
            "flipped": message[:-1] + bytes([message[-1] ^ 1]),
            "empty": b"",
            "of another session": other.said[phase][number],
        }
        return ways[change] if number == 3 else message

    play = Play(terms_of(4, 3), given, meddle={phase: meddle})
    spoils = (phase in ("masked", "opened") and change in ("flipped", "of another session")) or (
        phase == "shares" and change != "cut" and change != "empty"
    )
    rest, whole = sum(given[n] for n in range(3)).tolist(), sum(given.values()).tolist()
    if not spoils:
        assert play.run().tolist() == (whole if phase in ("confirmed", "opened") else rest)
        return
    try:
        found = play.run().tolist()
    except RunError:
        found = None
    if phase == "masked":  # what one member hands in is its own affair, and spoils the sum
        assert found is not None
        assert found != whole
        assert (found[:-1] == whole[:-1]) == (change == "flipped")
    elif phase == "shares":  # shares that cannot be unsealed are not opened: the sum is right, or there is none
        assert found in (None, whole)
    else:  # the first three shares suffice
        assert found == whole


def zeros() -> np.ndarray:
    return np.zeros(5, np.int64)


def _until(phase: str, threshold: int = 3) -> tuple[dict[int, Member], Collector, dict[str, object]]:
    """Play four honest members until `phase` is to be entered; return them, the server and what was handed round."""
    terms = terms_of(4, threshold)
    members, server, handed = members_of(terms), Collector(terms), {}
    handed["keys"] = server.keys({n: each.keys() for n, each in members.items()})
    if phase != "shares":
        handed["shares"] = server.shares({n: each.shares(handed["keys"]) for n, each in members.items()})
    if phase in ("confirmed", "opened"):
        zero = np.zeros(5, np.int64)
        handed["masked"] = server.masked(
            {n: each.masked(handed["shares"][n], lambda: zero) for n, each in members.items()}
        )
    if phase == "opened":
        handed["confirmed"] = server.confirmed({n: each.confirmed(handed["masked"]) for n, each in members.items()})
    return members, server, handed


def refused(member: Member, phase: str, *message: object) -> None:
    with pytest.raises(RunError, match="refused") as caught:
        getattr(member, phase)(*message)
    assert caught.value.code == "SRD-R021"
    with pytest.raises(RunError, match="each phase is entered once"):  # and after that it says nothing more
        getattr(member, phase)(*message)


def test_keys_that_their_owner_did_not_sign_are_refused() -> None:
    members, _, handed = _until("shares")
    keys = unpacked(handed["keys"])
    stranger = Identity()
    number, both, _ = unpacked(keys[1])
    forged = packed(number, both, stranger.signed(b"sordino federation keys", b"", number, both))
    refused(members[0], "shares", packed(keys[0], forged, *keys[2:]))
    refused(members[1], "shares", packed(*keys[2:], keys[0]))  # its own keys are missing
    refused(members[2], "shares", packed(*keys, keys[3]))
    refused(members[3], "shares", packed(*keys[2:]))  # two, where three must be


def test_shares_of_strangers_or_of_too_few_are_refused() -> None:
    members, _, handed = _until("masked")
    box = read_paired(handed["shares"][0])

    def untouched() -> np.ndarray:
        raise AssertionError("data was touched for a message that is refused")

    refused(members[0], "masked", paired(box | {0: box[1]}), untouched)
    refused(members[1], "masked", paired({0: b""}), untouched)
    refused(members[2], "masked", handed["shares"][2], lambda: np.zeros(6, np.int64))
    refused(members[3], "masked", handed["shares"][3][:-1], untouched)


def test_a_list_of_survivors_that_cannot_be_is_refused() -> None:
    members, _, _ = _until("confirmed")
    refused(members[0], "confirmed", numbers_field([1, 2, 3]))
    refused(members[1], "confirmed", numbers_field([0, 1]))
    refused(members[2], "confirmed", numbers_field([0, 1, 2, 7]))
    refused(members[3], "confirmed", b"".join(map(number_field, (3, 2, 1, 0))))


def test_shares_are_not_opened_for_a_list_that_too_few_signed_or_another_list() -> None:
    members, _, handed = _until("opened")
    signatures = read_paired(handed["confirmed"])
    refused(members[0], "opened", paired({n: signatures[n] for n in (0, 1)}))
    refused(members[1], "opened", paired(signatures | {0: signatures[1]}))
    refused(members[2], "opened", b"")


def test_a_server_that_tells_two_stories_opens_neither() -> None:
    """It shows half of the members one list of survivors, half another: neither finds enough signatures."""
    members, _, _ = _until("confirmed")
    first, second = numbers_field([0, 1, 2]), numbers_field([0, 1, 2, 3])
    signed = {0: members[0].confirmed(first), 1: members[1].confirmed(first)}
    other = {2: members[2].confirmed(second), 3: members[3].confirmed(second)}
    refused(members[0], "opened", paired(signed))
    refused(members[1], "opened", paired(signed | other))
    refused(members[2], "opened", paired(signed | other))
    refused(members[3], "opened", paired(other))


def test_one_kind_of_share_per_member_is_opened() -> None:
    play = Play(terms_of(4, 3), numbers(4), {3: PHASES.index("masked")})
    play.run()
    for message in play.said["opened"].values():
        kinds = {n: each[:4] for n, each in read_paired(message).items()}
        assert kinds == {0: b"self", 1: b"self", 2: b"self", 3: b"pair"}


def test_a_member_goes_on_from_what_it_saved() -> None:
    terms, given = terms_of(3, 2), numbers(3)
    members, server = members_of(terms), Collector(terms)

    def woken(number: int) -> Member:
        members[number] = Member.restore(members[number].save(), terms, number, IDENTITIES[number])
        return members[number]

    everybody = server.keys({n: woken(n).keys() for n in members})
    boxes = server.shares({n: woken(n).shares(everybody) for n in members})
    listed = server.masked({n: woken(n).masked(boxes[n], lambda n=n: given[n]) for n in members})
    signed = server.confirmed({n: woken(n).confirmed(listed) for n in members})
    assert server.opened({n: woken(n).opened(signed) for n in members}).tolist() == sum(given.values()).tolist()
    with pytest.raises(RunError):
        woken(0).opened(signed)


def test_a_roster_that_could_open_two_sums_is_refused() -> None:
    publics = [each.public for each in IDENTITIES[:5]]
    for threshold, colluding in ((2, 0), (3, 1), (4, 3), (6, 0), (5, 5)):
        with pytest.raises(ArgumentError):
            Roster.of(publics, threshold=threshold, colluding=colluding)
    with pytest.raises(ArgumentError, match="identity of its own"):
        Roster.of([publics[0]] * 3, threshold=3)
    assert Roster.of(publics, threshold=4, colluding=2).quorum.honest == 2
    assert repr(IDENTITIES[0]).count(IDENTITIES[0].secret.hex()) == 0
    with pytest.raises(RunError):
        Member(terms_of(3, 2), 1, IDENTITIES[0])


def test_any_two_sets_of_signers_share_an_honest_member() -> None:
    """The rule of the roster by enumeration: for every size, and whoever colludes."""
    for members in range(2, 8):
        for threshold, colluding in product(range(1, members + 1), range(members)):
            meet = all(
                len(set(a) & set(b)) > colluding
                for a in combinations(range(members), threshold)
                for b in combinations(range(members), threshold)
            )
            assert meet == (2 * threshold > members + colluding)


def test_members_of_two_trainings_do_not_meet_in_one_sum() -> None:
    """Both have the same roster, length and bits, but the one counts on noise that the other does not add."""
    study = population("study", members=4, unit="patient", size=100)
    roster = terms_of(4, 3).roster
    careful, loose = (
        recipe_for(study, parameters=5, rounds=1, clip=1, noise=noise, quorum=roster.quorum).round(0)
        for noise in (20, "0.01")
    )
    assert (careful.recipe.bits, careful.recipe.parameters) == (loose.recipe.bits, loose.recipe.parameters)
    members = {n: Member((careful if n == 0 else loose).terms(roster, SESSION), n, IDENTITIES[n]) for n in range(4)}
    refused(members[0], "shares", packed(*(members[n].keys() for n in range(4))))


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    "point", [bytes(32), bytes([1]) + bytes(31), bytes.fromhex("ecff" + "ff" * 29 + "7f"), SMALL_ORDER]
)
def test_who_announces_a_key_of_small_order_drops_out_alone(point: bytes, place: int) -> None:
    given, terms = numbers(4), terms_of(4, 3)

    def meddle(number: int, message: bytes) -> bytes:
        if number != 3:
            return message
        field, both, _ = unpacked(message)
        both = both[:32] + point if place else point + both[32:]
        return packed(field, both, IDENTITIES[3].signed(KEYS, terms.digest, field, both))

    found = Play(terms, given, meddle={"keys": meddle}).run()
    assert found.tolist() == sum(given[n] for n in range(3)).tolist()


def test_a_session_goes_on_under_the_terms_that_it_began_with() -> None:
    members, _, _ = _until("masked")
    terms = replace(terms_of(4, 3), plan="another plan")
    with pytest.raises(RunError, match="under other terms"):
        Member.restore(members[0].save(), terms, 0, IDENTITIES[0])


def test_what_a_member_keeps_is_not_shown() -> None:
    members, _, _ = _until("masked")
    secret = members[0]._kept.own
    assert len(secret) == 32
    assert repr(secret)[2:-1] not in repr(members[0]._kept)
