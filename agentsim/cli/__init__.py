"""The command line: one file a command. Commands load, call one function and print; nothing is decided here."""
