"""Replay: any recorded transcript, any Keeper, offline."""
