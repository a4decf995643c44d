"""A Flower app for the tests: four hospitals, one study."""
