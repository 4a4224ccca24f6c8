"""Measures how long shells take to propose words, as a person waits for them after the Tab key.

Each kind of proposal is asked for in bash, zsh and fish, with the scripts of `penumbra completion`: commands, files, folders,
filters, parameters, keys, runs, and jobs of a service. The state folder has 1,000 runs, and the service 1,000 jobs. bash is
asked in a loop of its own. zsh and fish call the program only in an interactive shell, so they have a terminal, and the time
ends when the word stands there.

Exits with 1 if the median of a kind is longer than the limit.
"""

import argparse
import os
import pty
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import service

LIMIT = 50
RUNS = 1_000
DONE = "completion-is-done"

# The words, and a proposal that must be among the answers.
KINDS = [
    ("commands", "penumbra unbl", "unblur"),
    ("files", "penumbra run nigh", "night.yaml"),
    ("folders", "penumbra run --state-dir sta", "state"),
    ("filters", "penumbra filters gauss", "gaussian"),
    ("parameters", "penumbra preview night.yaml --sweep radi", "radius="),
    ("keys", "penumbra run --set retr", "retries="),
    ("runs", f"penumbra show job-{RUNS - 1}-", service.history_name(RUNS - 1)),
    ("jobs", f"penumbra queue show {RUNS // 10}", f"{RUNS}"),
]

BASH = f"""
source penumbra.bash
while IFS= read -r line; do
    read -ra COMP_WORDS <<<"$line"
    COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) COMP_LINE=$line COMP_POINT=${{#line}} COMPREPLY=()
    _penumbra_words penumbra "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}" 2>/dev/null
    printf '%s\\n' "${{COMPREPLY[@]}}" {DONE}
done
"""

PROMPT = "shell-is-ready> "

# Neither shell may show proposals before the Tab key.
FISH = f"""
set -g fish_autosuggestion_enabled 0
function fish_prompt; echo -n '{PROMPT}'; end
source penumbra.fish
"""

ZSH = f"""
PS1='{PROMPT}' zle_bracketed_paste=()
autoload -U compinit
compinit -D
source penumbra.zsh
"""


class Loop:
    """A bash that reads lines, and writes the proposals for each of them."""

    def __init__(self, environment, folder):
        self.process = subprocess.Popen(
            ["bash", "--norc", "-c", BASH], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, cwd=folder,
            text=True, bufsize=1)

    def ask(self, line, wanted):
        """How many milliseconds it takes. The wanted word must be among the proposals."""
        begin = time.monotonic()
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        found = []
        while (answer := self.process.stdout.readline()).rstrip("\n") != DONE:
            if not answer:
                sys.exit(f"bash has ended at: {line}")
            found.append(answer.rstrip("\n"))
        took = (time.monotonic() - begin) * 1000
        if wanted not in found:
            sys.exit(f"bash does not propose {wanted} for '{line}': {found}")
        return took

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Terminal:
    """An interactive shell: the Tab key is pressed, and the time ends when the word is complete."""

    def __init__(self, command, environment, folder):
        self.shell = command[0]
        self.child, self.file = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.execvpe(self.shell, command, environment)
        self.read_until(PROMPT)

    def read_until(self, text, seconds=30):
        """Reads until the terminal shows a text. Control sequences do not count."""
        shown, deadline = "", time.monotonic() + seconds
        while text not in shown:
            if not select.select([self.file], [], [], max(0, deadline - time.monotonic()))[0]:
                sys.exit(f"{self.shell} does not show {text!r}: {shown!r}")
            shown += os.read(self.file, 65536).decode(errors="replace")
            shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)

    def settle(self):
        """Reads until the terminal has shown nothing for a moment."""
        while select.select([self.file], [], [], 0.05)[0]:
            os.read(self.file, 65536)

    def ask(self, line, wanted):
        os.write(self.file, line.encode())
        # The line is shown before the key is pressed, so that only its effect is timed.
        self.settle()
        begin = time.monotonic()
        os.write(self.file, b"\t")
        self.read_until(wanted[len(line.split()[-1]) :])
        took = (time.monotonic() - begin) * 1000
        self.settle()
        # The line is deleted, and an empty one leads to another prompt.
        os.write(self.file, b"\x15\r")
        self.read_until(PROMPT)
        return took

    def close(self):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.file)


def prepare(work, programs):
    """A farm with a history, and the scripts of the shells."""
    farm = service.Farm(work, programs, 1)
    farm.start()
    (work / "seed.ppm").write_bytes(service.picture(service.SIDE, 2))
    seed = farm.manifest("night", "seed.ppm", service.FILTERS, "{stem}.ppm")
    job = farm.wait_for(farm.submit(seed)["id"])
    if job["state"] != "done":
        sys.exit(f"the first job has failed: {job}")
    farm.end()
    service.copy_history(farm, job, RUNS)
    farm.start()
    shutil.copy2(seed, work / "night.yaml")
    for shell in ("bash", "zsh", "fish"):
        script = subprocess.run(farm.command("completion", shell), check=True, capture_output=True).stdout
        (work / f"penumbra.{shell}").write_bytes(script)
    (work / ".zshrc").write_text(ZSH)
    return farm


def environment(farm):
    return {
        "PATH": f"{farm.bin}:/usr/bin:/bin", "HOME": str(farm.folder), "ZDOTDIR": str(farm.folder), "TERM": "xterm",
        "LANG": "C.UTF-8", "PENUMBRA_STATE_DIR": str(farm.state), "XDG_CACHE_HOME": str(farm.folder / "cache"),
        "PENUMBRA_SERVER": str(farm.service_folder / "control.sock")}


def measure(farm, shell, repetitions):
    """The times of each kind, in milliseconds."""
    variables = environment(farm)
    if shell == "bash":
        asked = Loop(variables, farm.folder)
    elif shell == "zsh":
        asked = Terminal(["zsh", "-i"], variables, farm.folder)
    else:
        asked = Terminal(["fish", "--no-config", "--init-command", FISH], variables, farm.folder)
    # The first time does not count: the shell loads its functions, and the program writes the file of names.
    times = {
        kind: [asked.ask(line, wanted) for _ in range(repetitions + 1)][1:] for kind, line, wanted in KINDS}
    asked.close()
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, default=service.ROOT / ".build/release", help="the folder of penumbra")
    parser.add_argument("--work", type=Path, default=service.ROOT / ".build/bench/completions", help="a folder for the state")
    parser.add_argument("--repetitions", type=int, default=21)
    options = parser.parse_args()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    farm, late = None, 0
    print(f"{'ms, median and worst':24}" + "".join(f"{kind:>16}" for kind, _, _ in KINDS))
    try:
        farm = prepare(work, options.programs.resolve())
        for shell in ("bash", "zsh", "fish"):
            if not shutil.which(shell):
                print(f"{shell:24}is not installed")
                continue
            line = f"{shell:24}"
            for times in measure(farm, shell, options.repetitions).values():
                median = statistics.median(times)
                late += median > LIMIT
                line += f"{median:8.1f} {max(times):7.1f}"
            print(line, flush=True)
    finally:
        if farm is not None:
            farm.end()
    print(f"limit of the medians: {LIMIT} ms: {'met' if late == 0 else f'{late} are longer'}")
    for name in ("state", "service", "out"):
        shutil.rmtree(work / name, ignore_errors=True)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
