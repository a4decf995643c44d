"""Numbers that people hold: means, variances, distributions, vectors, by devices that tell nobody what they hold.

A number is clipped to declared bounds and rounded to a public grid on the device (`scale`). What is sent is one of
finitely many cells, by coins that are compared in whole numbers.

Ways to answer
    ``two_values``   one bit; best for small ε
    ``piecewise``    a cell of a public grid, mostly from a window around the number
    ``hybrid``       the one or the other, by a coin; best for larger ε
    ``square_wave``  the same kind of window, with the width that tells most about a distribution
    ``laplace``      the number plus noise from a two-sided geometric law
    ``vectors``      one of finitely many directions, mostly one that is near
    ``attributes``   several numbers, of which a device draws one
    ``classes``      people of public classes answer with their own ε
What they are made of
    ``two_levels``, ``window``, ``directions``, ``nearest``, ``parts``   coins, cells, directions, payloads
    ``linear``, ``means``, ``distribution``, ``estimated``               what reports say, and how far off it is
What is asked
    ``questions``, ``several``, ``variance``, ``ball``   in the units of people
    ``choice``   ``number``, ``several_numbers``, ``number_by_class``, ``vector``: which way to answer, and why
"""
