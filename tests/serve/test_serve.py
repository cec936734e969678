"""The program in a browser: this machine only, its own page only, and the same screen as in a terminal."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from store.room import Room

aiohttp = pytest.importorskip("aiohttp", reason="the extra two-twins[serve] is not installed")
ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""
PATIENCE_S = 20.0
MAIN = [sys.executable, "-c", "from app.cli import main; main()"]


def environment(**more: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC_")}
    return {**own, "PYTHONPATH": str(ROOT), **more}


@contextmanager
def serving(room: Path) -> Iterator[str]:
    """``twins serve`` for a room; the address that it prints."""
    command = [*MAIN, "serve", "--room", str(room), "--port", "0"]
    server = subprocess.Popen(command, env=environment(), cwd=room.parent, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        said = server.stdout.readline()
        found = re.search(r"http://\S+", said)
        assert found, said
        yield found[0]
    finally:
        server.terminate()
        server.wait(20)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(Room.create(tmp_path_factory.mktemp("serve") / "room", "Ada")) as address:
        yield address


def refused(*words: str) -> str:
    """What a command that must fail with exit 2 says."""
    run = subprocess.run([*MAIN, "serve", *words], env=environment(), capture_output=True, text=True, timeout=60)
    assert run.returncode == 2 and not run.stdout and len(run.stderr.splitlines()) == 1
    return run.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_another_host_than_this_machine_is_refused(tmp_path: Path, host: str) -> None:
    assert "is not this machine" in refused("--room", str(tmp_path), "--host", host)


def test_a_port_in_use_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "choose another with --port" in refused("--room", str(tmp_path), "--port", str(taken.getsockname()[1]))


@pytest.fixture
async def browser() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield session


async def test_without_its_key_the_page_is_closed_and_with_it_open(page: str, browser: aiohttp.ClientSession) -> None:
    bare = page.split("?")[0]
    for address in (bare, bare + "?key=wrong", bare + "ws"):
        async with browser.get(address) as answer:
            assert answer.status == 403
    async with browser.get(page) as answer:
        assert answer.status == 200 and "key=" not in str(answer.url)
        assert "googleapis" not in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("named", ["evil.example", "127.0.0.1:1", "localhost"])
async def test_a_name_that_points_here_from_elsewhere_is_refused(
    page: str, browser: aiohttp.ClientSession, named: str
) -> None:
    async with browser.get(page, headers={"Host": named}) as answer:
        assert answer.status == 403


async def test_a_page_from_elsewhere_cannot_open_the_web_socket_even_with_the_cookie(
    page: str, browser: aiohttp.ClientSession
) -> None:
    async with browser.get(page) as answer:
        assert answer.status == 200
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await browser.ws_connect(page.split("?")[0] + "ws", origin="http://evil.example")


class Tab:
    """A tab of a headless Chromium, through its DevTools protocol."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0
        self.painted = b""
        self.problems: list[str] = []

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": params})
        while True:
            told = await self._hear()
            if told.get("id") == self._number:
                assert "error" not in told, told
                result: dict[str, Any] = told["result"]
                return result

    async def _hear(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads((await self._socket.receive(PATIENCE_S)).data)
        if told.get("method") == "Network.webSocketFrameReceived":
            frame = told["params"]["response"]
            if frame["opcode"] == 2:
                self.painted += base64.b64decode(frame["payloadData"])
        elif told.get("method") == "Runtime.exceptionThrown":
            self.problems.append(str(told["params"]["exceptionDetails"].get("text")))
        return told

    def words(self) -> str:
        """All that was painted, without the controls."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.painted.decode(errors="replace"))

    async def until_painted(self, words: str) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while words not in self.words():
                    await self._hear()
        except TimeoutError:
            pytest.fail(f"{words!r} did not come: {self.problems}\n{self.words()[-3000:]}")

    async def press(self, key: str, code: str, number: int) -> None:
        for kind in ("keyDown", "keyUp"):
            given = {"text": key} if kind == "keyDown" else {}
            await self.ask(
                "Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number, **given
            )


@pytest.fixture
def devtools(tmp_path: Path) -> Iterator[str]:
    """Where a headless Chromium listens for its DevTools protocol."""
    if not CHROMIUM:
        pytest.skip("no Chromium is installed here")
    profile = tmp_path / "chromium"
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
    command = [CHROMIUM, *flags, f"--user-data-dir={profile}", "--remote-debugging-port=0", "--window-size=1200,800"]
    chromium = subprocess.Popen([*command, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        told = profile / "DevToolsActivePort"
        deadline = monotonic() + PATIENCE_S
        while not told.exists() or len(told.read_text().split()) < 2:
            assert monotonic() < deadline, "Chromium did not come up"
            sleep(0.1)
        yield f"http://127.0.0.1:{told.read_text().split()[0]}"
    finally:
        chromium.terminate()
        chromium.wait(20)


@pytest.fixture
async def tab(devtools: str) -> AsyncIterator[Tab]:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{devtools}/json/list") as answer:
            pages = [one for one in json.loads(await answer.text()) if one["type"] == "page"]
        async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as heard:
            yield Tab(heard)


async def test_the_room_is_shown_in_chromium_and_takes_keys(page: str, tab: Tab, tmp_path: Path) -> None:
    await tab.ask("Network.enable")
    await tab.ask("Runtime.enable")
    await tab.ask("Page.enable")
    await tab.ask("Page.navigate", url=page)
    await tab.until_painted("Ada's room")
    await tab.until_painted("new session")
    await tab.ask("Runtime.evaluate", expression="document.querySelector('textarea').focus()")
    await tab.press("n", "KeyN", 78)
    await tab.until_painted("A new session")
    picture = base64.b64decode((await tab.ask("Page.captureScreenshot"))["data"])
    (tmp_path / "page.png").write_bytes(picture)
    assert len(picture) > 10_000 and not tab.problems
