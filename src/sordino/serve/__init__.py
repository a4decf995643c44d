"""The skins over the house: service, dashboard, client and command line. All of them go through the gate.

A floor plan, from the ground up (a floor may import those below it, never the other way):

``refusals`` · ``settings`` · ``logs``   what everything below needs; ``migrations`` is how the tables grew
``keeping``    tables, the registry (data sets, policies, approvals, jobs), identities, who uses this machine
``witness``    telling a witness of every checkpoint, and being one for others
``asking``     a request as a dictionary, its price without a lock, a gate with fixed times, runs, jobs, crashes
``telling``    the ledger by release and by scope, budgets, data sets, what was run in plain words, proofs
``owning`` · ``proposing``     registration, budgets, policies, approvals
``service``    all of the above as one object, in plain dictionaries; nothing below this line knows of HTTP
``http``       one shape of errors, limits, logins, first in and last out
``api`` · ``dashboard`` · ``app`` · ``running``   JSON; pages; both as one application; a server that runs it
``afar``       the client: a service over a wire, its answers, its tables
``local`` · ``commands`` · ``cli`` · ``demo``   a ledger in a file without a service; the command line; the whole story

Codes of errors: SRD-S….
"""
