"""``cudarun serve``: a process that runs the commands of many clients in warm processes."""

from __future__ import annotations

from typing import Any

import click

from cudarun.base.errors import ExitCode
from cudarun.commands.declaration import conflict, filled, options_of
from cudarun.commands.help import Command
from cudarun.commands.options import device_option, stack
from cudarun.session.serve.request import ServeRequest


@click.command("serve", cls=Command)
@stack(*options_of(ServeRequest).values())
@device_option(
    default="0",
    show_default=True,
    help="Device of the workers that are started before there is a request.",
)
def command(**values: Any) -> int:
    """Run commands for clients in processes that are started before: a launch takes milliseconds.

    A client sends requests as lines of JSON, such as {"id": 1, "argv": ["devices"]}, and gets a
    line for each: {"id": 1, "exit_code": 0, "stdout": "…", "stderr": "…"}. An ordinary command line
    runs in the server with 'cudarun --server SOCKET' in place of 'cudarun', or with CUDARUN_SERVER.
    The server ends at SIGTERM or Ctrl-C.

    \b
    cudarun serve --socket /tmp/mine/cudarun.sock -d cpu
    cudarun --server /tmp/mine/cudarun.sock launch samples/saxpy.ptx -d cpu ...
    """
    request = filled(ServeRequest, values)
    if request.stdio and request.socket is not None:
        raise conflict("--stdio", "--socket", "a server has clients at one of them")
    # Imported here: --help starts no server.
    from cudarun.session.serve.server import Server
    from cudarun.session.serve.socket_file import default_path, listening

    devices = ",".join(map(str, values["devices"]))
    server = Server(request.jobs, devices, request.spares)
    try:
        if request.stdio:
            server.serve_streams()
        else:
            path = request.socket or default_path()
            with listening(path) as connection:
                click.echo(f"listening at {path}")
                server.serve_socket(connection)
    except KeyboardInterrupt:  # the ordinary end
        pass
    finally:
        server.end()
    return ExitCode.OK
