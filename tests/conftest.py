"""What holds for all tests: a property is judged by what it says, never by how long a busy machine took."""

from hypothesis import settings

settings.register_profile("without deadlines", deadline=None)
settings.load_profile("without deadlines")
