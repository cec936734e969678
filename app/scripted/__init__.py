"""A loopback server that speaks the Messages API and plays a script per seat, so that no model is needed."""
