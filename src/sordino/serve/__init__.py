"""The skins over the house: for now the command line."""
