"""The screens that join the engine's events to the widgets."""
