"""Runs a command with PORT in its arguments replaced by that of a host which accepts connections and
never says a word."""
import socket
import subprocess
import sys

with socket.create_server(("127.0.0.1", 0)) as host:
    port = str(host.getsockname()[1])
    sys.exit(subprocess.call([argument.replace("PORT", port) for argument in sys.argv[1:]]))
