"""Runs a program in a terminal of its own, and prints what the terminal would show.

    terminal.py ANSWER PROGRAM ARGUMENT...

ANSWER is what the terminal says when it is asked for its attributes, with \\e for the escape character. The terminal has
80 columns, 24 rows, and 800 by 480 pixels.
"""
import fcntl
import os
import pty
import struct
import sys
import termios

answer = sys.argv[1].replace("\\e", "\x1b").encode()
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 800, 480))
shown, asked = b"", False
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:  # The program has ended.
        break
    if not part:
        break
    shown += part
    if not asked and b"\x1b[c" in shown:
        asked = True
        os.write(terminal, answer)
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
