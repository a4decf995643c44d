"""How often each of many values is true: one way to answer a file, by a device that tells nobody what it holds."""
