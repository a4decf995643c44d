"""The transparency report: what a stranger should know about a data set or a release, and can check.

*reading*    ``book`` (what a ledger says about one data set) · ``sources`` (a ledger here, or a service behind a URL)
*writing*    ``statements`` (what only people can say) · ``arithmetic`` (charges replayed) · ``released`` (a release) ·
             ``content`` (all of it as plain JSON) · ``pyramid`` (in the words of NIST SP 800-226) · ``registry`` (in
             the fields of the OpenDP deployments registry) · ``told`` (what a service tells whoever may see less)
*giving*     ``report`` (build it, sign it) · ``page`` (one page of HTML)
*checking*   ``checks`` (what holds and what does not) · ``agreement`` (with what is enclosed) · ``checking`` (a
             report) · ``receipts`` (a receipt)
"""
