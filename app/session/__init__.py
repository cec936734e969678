"""The engine of a live session: it appends events and has never heard of a screen."""
