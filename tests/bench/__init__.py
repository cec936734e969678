"""Benchmarks: each module measures one part beside the naive way in the same run; ``make bench`` prints them all."""
