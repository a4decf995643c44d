"""``sordino ledger``: verify every entry, show what is written, go on from an old copy.

To verify and to show need the public key alone, so an auditor can do both with a copy of the files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from sordino.errors import ArgumentError

from .place import HERE, DirectoryOption, JsonOption, YesOption, cell, read_text, say, say_json, settings_in

if TYPE_CHECKING:
    from sordino.ledger.keys import VerifyingKey
    from sordino.ledger.store import Store
    from sordino.ledger.verify import Progress, Report
    from sordino.ledger.witness import Witness
    from sordino.serve.settings import Settings

PlaceOption = Annotated[
    str | None, typer.Option("--place", help="The ledger: a file or a URL; left out: the one in sordino.yaml.")
]
KeyOption = Annotated[
    str | None, typer.Option("--key", help="The ledger's public key or its file; left out: the .pub file beside it.")
]
WitnessOption = Annotated[
    Path | None, typer.Option("--witness", help="The witness' file; left out: as set, or the one beside the ledger.")
]

app = typer.Typer(help="Verify the ledger, show what is written, go on from an old copy.", no_args_is_help=True)


@app.command()
def verify(
    place: PlaceOption = None,
    key: KeyOption = None,
    witness: WitnessOption = None,
    directory: DirectoryOption = HERE,
    reprice: Annotated[bool, typer.Option(help="Find the price of every charge again; may take a while.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Read the whole ledger again and judge it: every entry, every signature, the witness. Exit code 1: not sound."""
    from sordino.ledger.keys import VerifyingKey
    from sordino.ledger.verify import verify_store

    at = _place(place, witness, directory)
    public = VerifyingKey.parse(key_text(key) if key is not None else read_text(at.public).strip())
    with _opened(at.where) as store, _progress() as told:
        report = verify_store(store, public, _memory(at, public), reprice=reprice, progress=told)
    _show_report(report, at.witness, as_json)
    if not report.sound:
        raise typer.Exit(1)


@app.command()
def show(
    place: PlaceOption = None,
    last: Annotated[int, typer.Option(min=1, help="How many of the newest entries to show.")] = 20,
    directory: DirectoryOption = HERE,
    as_json: JsonOption = False,
) -> None:
    """Show the newest entries as they are written; to judge them, verify."""
    from sordino.ledger.entries import from_bytes, to_bytes

    with _opened(_place(place, None, directory).where) as store, store.reading() as reading:
        head = reading.head()
        size = 0 if head is None else head.size
        bodies = [body for _, body in reading.bodies(max(0, size - last), size)]
    entries = [json.loads(to_bytes(from_bytes(body))) for body in bodies]
    if as_json:
        say_json({"size": size, "entries": entries})
        return
    table = Table(title=f"{size} entries")
    for name in ("entry", "time", "kind", "what"):
        table.add_column(name, justify="right" if name == "entry" else "left", overflow="fold")
    for entry in entries:
        table.add_row(*_row(entry))
    say(table)


@app.command()
def compare(
    one: Annotated[Path, typer.Argument(help="A checkpoint or a receipt, as it was given to somebody.")],
    other: Annotated[Path, typer.Argument(help="Another, given to somebody else, or at another time.")],
    key: KeyOption = None,
    proof: Annotated[
        Path | None, typer.Option(help="A proof of consistency: base64 hashes, one on each line, lowest first.")
    ] = None,
    place: PlaceOption = None,
    directory: DirectoryOption = HERE,
    as_json: JsonOption = False,
) -> None:
    """Tell from two checkpoints or receipts whether everybody is shown one ledger. Exit code 1: two, or not decided."""
    from sordino.ledger.canonical import from_base64
    from sordino.ledger.comparing import Held
    from sordino.ledger.comparing import compare as compared
    from sordino.ledger.keys import VerifyingKey

    at = _place(place, None, directory) if place is not None or key is None else None
    public = VerifyingKey.parse(read_text(at.public).strip() if key is None and at is not None else key_text(key or ""))
    held = [Held.read(read_text(each), public) for each in (one, other)]
    hashes = None if proof is None else [from_base64(line) for line in read_text(proof).split()]
    found = compared(held[0], held[1], hashes, None if at is None else lambda size: _root_at(at.where, size))
    if as_json:
        say_json({"verdict": found.verdict, "reason": found.reason, "origin": held[0].checkpoint.origin})
    else:
        say(f"{_COMPARED[found.verdict]}: {found.reason}")
    if found.verdict in ("fork", "undecided"):
        raise typer.Exit(1)


_COMPARED = {"same": "one history", "extends": "one history", "fork": "A FORK", "undecided": "not decided"}


def _root_at(where: str, size: int) -> bytes | None:
    """Return the root of the first entries of the ledger at a place, None where it has not so many."""
    from sordino.ledger.store import BATCH
    from sordino.ledger.tree import Frontier, leaf_hashes

    found = Frontier()
    with _opened(where) as store, store.reading() as reading:
        for start in range(0, size, BATCH):
            found = found.extend(leaf_hashes(body for _, body in reading.bodies(start, min(start + BATCH, size))))
    return found.root if found.size == size else None


@app.command()
def cosign(directory: DirectoryOption = HERE, as_json: JsonOption = False) -> None:
    """Have the newest checkpoint cosigned by all that `cosigners` names, and keep that. Exit code 1: one did not."""
    from sordino.ledger.ledger import Ledger
    from sordino.ledger.witness import NoWitness
    from sordino.serve.witness.cosigning import Place, cosign_now

    settings, at = settings_in(directory), _place(None, None, directory)
    if not settings.cosigners:
        raise ArgumentError("no cosigners are set; name each by its address and key in sordino.yaml", "SRD-A003")
    with Ledger.open(at.where, key=at.signing, witness=NoWitness("nothing is charged here")) as ledger:
        found = cosign_now(ledger, map(Place.read, settings.cosigners), settings.witness_seconds)
    if as_json:
        say_json({"cosigned": [{"name": name, "trouble": trouble} for name, trouble in found]})
    else:
        say(*(f"{name}: {'cosigned' if trouble is None else trouble}" for name, trouble in found))
    if any(trouble for _, trouble in found):
        raise typer.Exit(1)


@app.command()
def cosigner(directory: DirectoryOption = HERE) -> None:
    """Print the key by which this service cosigns for other ledgers, for their `cosigners`; made if there is none."""
    from sordino.ledger.cosignature import Cosigner
    from sordino.serve.witness.cosigning import cosigning_key

    typer.echo(Cosigner(cosigning_key(settings_in(directory)).verifier).text)


@app.command()
def restore(
    by: Annotated[str, typer.Option(help="Who decides this; stays in the ledger.")],
    reason: Annotated[str, typer.Option(help="Why; stays in the ledger.")],
    place: PlaceOption = None,
    witness: WitnessOption = None,
    directory: DirectoryOption = HERE,
    keep_access: Annotated[
        bool,
        typer.Option(help="Leave tokens and members of an old copy as they are, though some may be revoked since."),
    ] = False,
    yes: YesOption = False,
) -> None:
    """Go on from an old copy or after a freeze; what lost entries may have spent is burnt.

    From an old copy nobody comes in any more, for it does not know what was revoked since: issue tokens anew.
    """
    from sordino.ledger.entries import Continued
    from sordino.ledger.ledger import Ledger
    from sordino.ledger.restoring import RESTORABLE
    from sordino.serve.keeping.shutting_out import shut_everybody_out
    from sordino.serve.witness.watching import open_ledger

    at = _place(place, witness, directory)
    say("What the witness saw beyond this copy stays spent; where it remembers nothing, all that is left is burnt.")
    if not yes:
        typer.confirm("Restore the ledger?", abort=True)
    ledger = open_ledger(at.remote)[0] if at.remote else Ledger.open(at.where, key=at.signing, witness=at.witness)
    try:
        old = ledger.frozen is not None and ledger.frozen.code in RESTORABLE  # else nothing in it is lost
        # Before it goes on: whatever happens in between, nobody comes in whose right ended.
        shut = shut_everybody_out(at.where, by) if old and not keep_access else None
        restored = ledger.restore(by, reason)
    finally:
        ledger.close()
    burnt = ", ".join(str(scope) for scope, amount in restored.burnt if any(amount)) or "nothing"
    say(f"restored at entry {restored.sequence}; {restored.lost_to - restored.lost_from} lost, burnt for: {burnt}")
    if isinstance(restored, Continued):
        say(f"it is another log from here on, with a key of its own; tell whoever checks receipts: {restored.key}")
    if shut is not None:
        say(f"{shut[0]} tokens are revoked and {shut[1]} members dismissed; issue tokens anew: sordino token issue")


def key_text(given: str) -> str:
    """Return a public key: the text itself, or what a file holds."""
    return given if "+" in given and not Path(given).exists() else read_text(Path(given)).strip()


@dataclass(frozen=True)
class _Place:
    """Where a ledger and what belongs to it are; None where that is on a server and was not said."""

    where: str
    signing: Path | None
    witness: Path | str | None
    remote: Settings | None = None
    """The settings, if the witness that they name is an address."""

    @property
    def public(self) -> Path:
        """The file of the public key, which lies beside the signing key."""
        if self.signing is None:
            raise ArgumentError("a ledger on a server has no files beside it; give --key", "SRD-A003")
        return self.signing.with_suffix(".pub")


def _place(place: str | None, witness: Path | None, directory: Path) -> _Place:
    """Return where the ledger is, which must be there."""
    named: dict[str, str | None] = {"key": None, "witness": None}
    remote: Settings | None = None
    if place is None:
        settings = settings_in(directory)
        place, named = settings.database, {"key": settings.key, "witness": settings.witness}
        remote = settings if settings.witness_url is not None and witness is None else None
    if "://" not in place:
        if not Path(place).is_file():
            raise ArgumentError(f"there is no ledger {place}; name its file by --place", "SRD-A005")
        named = {name: path or f"{place}.{name}" for name, path in named.items()}
    found = {name: None if path is None else Path(path) for name, path in named.items()}
    return _Place(place, found["key"], remote.witness if remote else witness or found["witness"], remote)


def _memory(at: _Place, public: VerifyingKey) -> Witness:
    """Return who remembers for a ledger: an address, a file, or nobody."""
    from sordino.ledger.witness import FileWitness, NoWitness
    from sordino.serve.witness.watching import remote_witness

    if at.remote is not None:
        return remote_witness(at.remote, public)
    return NoWitness("none was named") if at.witness is None else FileWitness(at.witness)


@contextmanager
def _opened(where: str) -> Iterator[Store]:
    from sordino.ledger.opening import store_at

    store = store_at(where)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def _progress() -> Iterator[Progress]:
    """Yield what draws a bar on standard error."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns, console = (TextColumn("entries"), BarColumn(), MofNCompleteColumn()), Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as drawn:
        task = drawn.add_task("entries", total=None)
        yield lambda done, whole: drawn.update(task, completed=done, total=whole)


def _show_report(report: Report, watched: Path | str | None, as_json: bool) -> None:
    from sordino.ledger.report import UNWITNESSED

    problems = [{"position": each.position, "code": each.code, "reason": each.reason} for each in report.problems]
    if as_json:
        found = {"verdict": report.verdict, "sound": report.sound, "size": report.size, "repriced": report.repriced}
        say_json(found | {"problems": problems})
        return
    if report.sound:
        seen = f"they extend what {watched} has seen" if report.watched else UNWITNESSED
        prices = "every charge covers its event, priced again" if report.repriced else "prices were not checked"
        signed = f"all {report.signatures + 1} signatures hold"
        say(f"{report.verdict}: {report.size} entries were read and replayed, {signed}, and {seen}; {prices}")
        return
    first = report.problems[0]
    say(f"NOT SOUND: {first} ({first.code})", *(f"also: {each} ({each.code})" for each in report.problems[1:]))


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    from sordino.ledger.periods import moment

    words = _WORDS[entry["kind"]](entry) if entry["kind"] in _WORDS else ""
    return str(entry["sequence"]), moment(entry["time"]), entry["kind"], cell(words)


def _charged(entry: dict[str, Any]) -> str:
    return f"{entry['what']} of {entry['analyst']}, charged to {', '.join(each[0] for each in entry['charges'])}"


_WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "opened": lambda entry: f"{entry['scope']} by {entry['by']}",
    "budgeted": lambda entry: f"{entry['scope']} by {entry['by']}: {entry['reason']}",
    "reserved": _charged,
    "settled": lambda entry: f"{entry['id']}, release {entry['release'][:16]}…",
    "failed": lambda entry: f"{entry['id']}, {entry['code']}",
    "refreshed": lambda entry: f"{entry['scope']}, period {entry['period']}",
    "frozen": lambda entry: entry["code"],
    "restored": lambda entry: f"by {entry['by']}: {entry['reason']}",
    "continued": lambda entry: f"by {entry['by']}, as {entry['key'].partition('+')[0]}: {entry['reason']}",
}
