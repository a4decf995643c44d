"""A survey by two servers, of which one is honest: what a device sends, what they say to each other, what comes out.

shares     a device's answer in two shares, each sealed for one server; the question that is asked so
messages   what the servers say to each other: told from anybody else's, and found alike after a restart
leader     takes reports, has them checked and added up by both, and puts the answer together
helper     checks with the leader, adds up, and hands out its sum once, with the whole noise on it
"""
