"""A disk that waits with fsync: for logs that can be made again from their source."""

from __future__ import annotations

from store.log import SystemDisk


class PatientDisk(SystemDisk):
    """Leaves fsync to whoever ends the work (with ``os.sync``): an import or a replay that a power cut takes away is
    started again, and takes up what it finds."""

    def fsync(self, fd: int) -> None:
        pass
