"""Measures: pure functions over event logs."""
