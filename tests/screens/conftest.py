"""A screen test fails when a subscriber of the room did: the room swallows and logs what a listener raises."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_subscriber_fails(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    failed = [record for when in ("setup", "call") for record in caplog.get_records(when) if "subscriber" in record.msg]
    assert not failed, "\n".join(f"{record.getMessage()}: {record.exc_info}" for record in failed)
