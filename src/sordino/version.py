"""Which version this is: said here once, for the package, receipts and reports alike, installed or not."""

VERSION = "0.1.0"
