"""Audits of a running service, from outside: what it must never do is tried, and what was seen is told.

``line``        requests as somebody, and what came back · ``finding``, ``result`` what is told in the end
``questions``   a grammar of questions over the public schema · ``observables`` all that is seen but the noise
``oracle``      the same question to two services, one without a person, and whether a difference is chance
``values``      the noisy values, measured against the claimed ε · ``timing`` how long runs take
``overspending``, ``replaying``, ``tampering``, ``canaries``, ``refusing``, ``authorizing``: one probe each
``service``     all of them in order

Codes of errors: SRD-V040 to V049.
"""
