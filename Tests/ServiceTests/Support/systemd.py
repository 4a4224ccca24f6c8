"""Starts a program as systemd does: systemd.py NAME=ADDRESS ... -- PROGRAM ARGUMENT ...

Opens a listening socket for each address, a path or 127.0.0.1:PORT, and becomes the program, which finds the sockets from descriptor 3
on, with their names in LISTEN_FDNAMES. The program keeps this process's ID."""
import os
import socket
import sys

end = sys.argv.index("--")
names, sockets = [], []
for pair in sys.argv[1:end]:
    name, address = pair.split("=", 1)
    if address.startswith("/"):
        os.makedirs(os.path.dirname(address), mode=0o700, exist_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
        os.chmod(address, 0o600)
    else:
        host, port = address.rsplit(":", 1)
        listener = socket.socket(socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, int(port)))
    listener.listen(16)
    names.append(name)
    # Away from the descriptors that the program expects.
    sockets.append((listener, os.dup2(listener.fileno(), 100 + len(sockets), inheritable=False)))
for index, (_, descriptor) in enumerate(sockets):
    os.dup2(descriptor, 3 + index, inheritable=True)
os.environ["LISTEN_PID"] = str(os.getpid())
os.environ["LISTEN_FDS"] = str(len(sockets))
os.environ["LISTEN_FDNAMES"] = ":".join(names)
os.execv(sys.argv[end + 1], sys.argv[end + 1 :])
