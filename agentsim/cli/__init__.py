"""The command line. Commands load, call one function and print; nothing is decided here."""
