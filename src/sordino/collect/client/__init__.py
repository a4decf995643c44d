"""The client for browsers and Node: one module without dependencies, `sordino.js`, and what it must compute."""
