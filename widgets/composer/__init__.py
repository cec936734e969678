"""The composer: where the operator writes to Presence."""

from widgets.composer.composer import Composer, ComposerMode, FilesWanted, Submitted

__all__ = ["Composer", "ComposerMode", "FilesWanted", "Submitted"]
