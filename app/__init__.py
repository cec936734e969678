"""What runs: the engine, the scripted twins, the screens and the command line."""
