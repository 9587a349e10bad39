"""The append-only truth about what has been spent: reserve before data is read, commit after, refund never.

`entry` and `codec` say what is written, `journal` chains it by hashes, `replay` computes what is spent from it and from
nothing else, `store`, `memory` and `sqlite` keep it, and `ledger` is the one door to all of them.
"""
