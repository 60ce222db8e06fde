"""Every fault of the model service against whole games, through the command line."""
