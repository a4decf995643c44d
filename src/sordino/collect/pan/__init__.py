"""Pan-private counting: not only what comes out is private, but what is held, at every moment.

    distinct(account, …)   how many units came, of any number
    density(account, …)    how many of a known number of units came
    heavy(account, …)      which of some public items most units hold, by their last one

``coins`` has the claim and its proof: what whoever sees states and outputs can learn about a unit. ``cells`` is the
state, ``places`` says which cell is whose, ``plan`` what is charged, ``kept`` the one file, ``counting`` all of it at
work, ``estimate`` what follows from noisy counts.
"""
