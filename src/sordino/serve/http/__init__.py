"""The service over HTTP: first in and last out, limits, logins, one shape of errors."""
