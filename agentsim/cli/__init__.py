"""The command line. Commands load their input, call one function and print its result."""
