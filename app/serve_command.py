"""`twins serve`: the same program in a browser on this machine, and on no other."""

from __future__ import annotations

from typing import Annotated

import typer

from app.options import RoomOption


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command()
    def serve(
        room: RoomOption = None,
        host: Annotated[str, typer.Option(help="This machine only: localhost, 127.0.0.1 or ::1.")] = "127.0.0.1",
        port: Annotated[int, typer.Option(help="The port; 0 lets the system choose one.")] = 8217,
        demo: Annotated[bool, typer.Option("--demo", help="Serve the demo tour instead of a room.")] = False,
    ) -> None:
        """Show the program in a browser on this machine (needs the extra two-twins[serve])."""
        from app.serving import serve_here

        serve_here(room, host=host, port=port, demo=demo)
