"""The record of every price paid: durable, tamper-evident, and the only truth about what is left.

A ledger is an append-only sequence of entries. No balance is stored: whoever wants one replays the entries, and whoever
spends does so under the store's writer lock, after catching up. The entries are the leaves of a Merkle tree whose root
is signed with every commit, and a witness elsewhere remembers the last signature; so an edit, a deletion, a roll-back
to an old copy or a forged signature shows.

A floor plan, from the ground up (a floor may import those below it, never the other way):

*proof*      ``canonical`` (one spelling for each value) · ``tree`` (RFC 6962 hashes and proofs) · ``curve``,
             ``keys`` (Ed25519) · ``note`` (signed texts) · ``checkpoint`` (a signed size and root)
             · ``continuing`` (from one key to the next) · ``told`` (what a witness is told, signed) ·
             ``cosignature``, ``witness_protocol`` (time and memory from somebody else)
*meaning*    ``scope`` (who is charged) · ``periods`` · ``vectors`` (amounts) · ``rule`` (what a scope may spend) ·
             ``entry``, ``manifest``, ``charging``, ``quick``, ``entries`` (what may be written down, how it is read)
*judgement*  ``balance`` · ``state`` (what the entries add up to) · ``undoing`` · ``snapshot`` · ``refusal`` ·
             ``decisions`` (what may be appended next) · ``plausible`` (whether a charge speaks of something)
*receipt*    ``files`` (of a release that is too large for a row) · ``receipt`` (one release, its price and its proof,
             checked offline) · ``repricing`` (prices, found again) · ``comparing`` (forks, told from two that are held)
*keeping*    ``schema``, ``store``, ``store_sqlite``, ``store_postgres`` (rows) · ``migrating``,
             ``migrations`` · ``witness`` (a memory elsewhere) · ``nodes`` (hashes that are kept) ·
             ``keyfile``, ``opening`` · ``log`` (bytes under a signed root) ·
             ``cosignatures`` (those that are kept)
*use*        ``loading`` · ``together`` (group commit) · ``session`` (one process at a ledger) · ``reservation`` ·
             ``releases`` · ``restoring`` · ``locate``, ``signatures``, ``report``, ``verify`` (read everything again,
             name what is wrong) · ``ledger`` (open, reserve, settle) · ``chain`` (reservations under one key, one after
             the other) · ``account`` (the verbs of an account in memory, on a ledger)

The way of a charge: ``decisions`` decides → ``entries`` spells it → ``tree`` hashes it → ``checkpoint`` signs the
root → ``store`` commits → ``witness`` is told. Reading goes the other way and trusts nothing that it has not checked.

Codes of errors: SRD-L001 to L019 proof and receipt, L020 to L049 meaning and judgement, L050 to L099 keeping and use.
"""
