"""The API under ``/api/v1``: what a `Service` does, over HTTP, in JSON.

``calls``      how a request finds the service: who is asking, how often, in which thread
``models``     what requests may hold, and nothing else
``shapes``     what responses hold, for the description
``asking``     data sets, price, run, jobs
``released``   releases, receipts, budgets, transparency
``ledger``     checkpoint, entries, proofs, verification, and being a witness
``owning``     registration, budgets, policies, tokens, members, approvals
``operating``  health, metrics, the description of the API
"""
