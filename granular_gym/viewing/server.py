"""server.py: the web server of a view, on a port that must be free."""

from __future__ import annotations

import errno
import socket
from typing import Any

from granular_gym.base import checks
from granular_gym.errors import ArgumentError, GranularError


def viser_module() -> Any:
    """The module viser.

    Raises:
        GranularError: the `view` extra is not installed.
    """
    try:
        import skimage  # noqa: F401
        import viser
    except ImportError as error:
        raise GranularError("a live view needs viser: pip install 'granular_gym[view]'") from error
    return viser


def open_server(host: Any, port: Any) -> Any:
    """A running ViserServer.

    Args:
        host: address to listen on.
        port: 0: any free one.

    Raises:
        ArgumentError: not a host or a port, or the port is in use.
        GranularError: the `view` extra is not installed.
        OSError: the port cannot be opened.
    """
    port, host = checks.integer("port", port, 0, 65535), checks.text("host", host)
    wanted = _free_port(host, port)
    server = viser_module().ViserServer(host=host, port=wanted, label="granular_gym", verbose=False)
    # viser takes the next port where another program was faster
    if port and server.get_port() != port:
        server.stop()
        raise _in_use(port)
    return server


def _in_use(port: int) -> ArgumentError:
    return ArgumentError(f"port: expected one that is free, or 0 for any that is, got {port}, which is in use")


def _free_port(host: str, port: int) -> int:
    """The port, or where it is 0 a free one."""
    with socket.socket() as probe:
        # as the server does: connections that were closed a moment ago do not count
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise _in_use(port) from None
            raise
        return int(probe.getsockname()[1])
