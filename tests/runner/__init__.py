"""How the tests are run."""
