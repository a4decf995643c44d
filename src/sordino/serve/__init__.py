"""The skins over the house: service, dashboard, client and command line. All of them go through the gate.

A floor plan, from the ground up (a floor may import those below it, never the other way):

*refusing*   ``refusals`` (what the service says no with) · ``settings``
*keeping*    ``tables``, ``registry`` (data sets, policies, approvals, jobs) · ``identity`` (tokens, members, sessions)
             · ``machine`` (who uses it)
*asking*     ``reading`` (a question as a dictionary) · ``quoting``, ``quotation`` (prices, without a lock) · ``slots``
             (a gate with fixed times) · ``house`` (ledger, registry, open data sets) · ``questions`` (a run) · ``jobs``
             · ``interrupted`` (what a crash left behind)
*telling*    ``journal`` (the ledger, by release and by scope) · ``budgets`` · ``catalogue`` · ``archive`` · ``proofs``
             · ``event_words`` (what was run, in plain words)
*owning*     ``owning`` (registration, budgets, policies, approvals)
*service*    ``service``: all of the above as one object, in plain dictionaries; nothing below this line knows of HTTP
*HTTP*       ``problems`` (one shape of errors) · ``limits`` · ``logs`` · ``metrics`` · ``doors`` (first in, last out) ·
             ``api`` · ``browsing``, ``oidc`` (logins) · ``error_pages`` · ``app`` · ``running``
*afar*       ``client``, ``remote`` (a service over a wire) · ``told`` (its answers) · ``public_schema`` (its tables)
*by hand*    ``local`` (a ledger in a file, without a service) · ``cli`` and its commands · ``demo`` (the whole story)

Codes of errors: SRD-S….
"""
