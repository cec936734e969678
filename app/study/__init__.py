"""The study: pre-registration, schedule, runs, blind scoring, results."""
