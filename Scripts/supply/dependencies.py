"""The record of what Penumbra is built from (packaging/dependencies.json), and the comparison with what is here.

Package.swift accepts newer versions of its packages, and Package.resolved is not committed. The record says which versions a release
has. It needs no network: the digest of a package is computed from the files of its checkout.

The digest of a package is the SHA-256 of a list of its files. The list has one line for each file, sorted by the bytes of the path: the
SHA-256 of the file in hexadecimal, two blanks, and the path. This is the output of sha256sum, so this command prints the same digest:

    cd .build/checkouts/NAME
    find . -name .git -prune -o -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum

Symbolic links are in the list, too: "link:" and the target take the place of the file's SHA-256. Submodules are not, because no program
is built from one. Modes and times do not count.
"""

import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
import typing

RECORD = os.path.join("packaging", "dependencies.json")
KNOWN_LICENSES = os.path.join("packaging", "licenses", "known.json")
ABOUT = (
    "What Penumbra is built from. 'Scripts/dependencies --record' writes this file, and 'Scripts/dependencies --check' compares it with "
    "the packages that are here. Scripts/supply/dependencies.py says how the digests are computed. A mirror of a repository may have "
    "the same files under another revision, so that the digests decide.")


class Missing(Exception):
    """Something that a script reads is not there, or cannot be read. The text says what, and what to do."""


def name_of(location):
    """The name of a repository, as the folder of its checkout has it."""
    return location.rstrip("/").removesuffix(".git").split("/")[-1]


def read_json(path, remedy):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise Missing(f"{path} cannot be read: {error.strerror}\n   = {remedy}") from error
    except ValueError as error:
        raise Missing(f"{path} is not JSON: {error}\n   = {remedy}") from error


# Digests


def digest(entries):
    """The digest of the files of a package. An entry is a path, the target of a link or None, and the bytes of a file."""
    lines = []
    for path, target, data in entries:
        label = f"link:{target}".encode() if target is not None else hashlib.sha256(data).hexdigest().encode()
        lines.append((os.fsencode(path), label))
    listing = b"".join(label + b"  " + path + b"\n" for path, label in sorted(lines))
    return hashlib.sha256(listing).hexdigest()


def submodules(folder):
    """The folders in which a package wants other repositories."""
    try:
        with open(os.path.join(folder, ".gitmodules"), encoding="utf-8") as file:
            return {match.strip() for match in re.findall(r"(?m)^\s*path\s*=\s*(.+)$", file.read())}
    except FileNotFoundError:
        return set()


def files_of_checkout(folder):
    """The entries of all files in a folder. Files that git does not know count: the compiler would read them."""
    skipped = submodules(folder)
    for place, folders, names in os.walk(folder):
        inside = os.path.relpath(place, folder)
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        folders[:] = [
            name for name in folders
            if name != ".git" and name not in links and os.path.normpath(os.path.join(inside, name)) not in skipped]
        for name in names + links:
            path, full = os.path.normpath(os.path.join(inside, name)), os.path.join(place, name)
            if os.path.islink(full):
                yield path, os.readlink(full), b""
            elif name != ".git":
                with open(full, "rb") as file:
                    yield path, None, file.read()


def files_of_commit(checkout, revision):
    """The entries of all files of a commit, which `make dist` puts into its archive."""
    command = ["git", "-C", checkout, "archive", "--format=tar", revision]
    result = subprocess.run(command, capture_output=True, check=False)
    if result.returncode != 0:
        raise Missing(
            f"{checkout} has no commit {revision}: {result.stderr.decode(errors='replace').strip()}\n"
            "   = run 'swift package resolve', and try again")
    with tarfile.open(fileobj=io.BytesIO(result.stdout)) as archive:
        for entry in archive:
            if entry.issym():
                yield entry.name, entry.linkname, b""
            elif entry.isfile():
                yield entry.name, None, archive.extractfile(entry).read()


# What is here


class Sources:
    """The packages that a folder with Penumbra's sources is built from."""

    def __init__(self, root):
        self.root = root
        vendor = os.path.join(root, "vendor")
        # A release has the packages in vendor/, with changed manifests and without their tests.
        self.is_release = os.path.isdir(vendor)
        self.folder = vendor if self.is_release else os.path.join(root, ".build", "checkouts")
        resolved = os.path.join(vendor if self.is_release else root, "Package.resolved")
        self.pins = read_json(resolved, "run 'swift package resolve', and try again")["pins"]

    def checkout(self, pin):
        return os.path.join(self.folder, name_of(pin["location"]))

    def digest_of_checkout(self, pin):
        """The digest of the files of which a package is compiled; None if the package is not there."""
        folder = self.checkout(pin)
        return digest(files_of_checkout(folder)) if os.path.isdir(folder) else None

    def digest_of_commit(self, pin):
        """The digest of the commit that Package.resolved names; None if the package is not there."""
        folder = self.checkout(pin)
        return digest(files_of_commit(folder, pin["state"]["revision"])) if os.path.isdir(folder) else None

    def changed_files(self, pin):
        """The files of a checkout that somebody changed or added."""
        # Without git nobody can say which files changed, and the digest says that some did.
        result = subprocess.run(
            ["git", "-C", self.checkout(pin), "status", "--porcelain", "--ignored"], capture_output=True, text=True, check=False)
        return sorted(line[3:] for line in result.stdout.splitlines()) if result.returncode == 0 else []


def version_of(pin):
    return pin["state"].get("version") or pin["state"]["revision"]


def swift_version():
    """The version of the Swift toolchain in PATH; None if there is none."""
    try:
        words = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    match = re.search(r"Swift version (\d+(?:\.\d+)+)", words.stdout + words.stderr)
    return match[1] if match else None


def debian_packages(root):
    """The Debian packages that the build and the programs need, as Scripts/setup and the list of licenses name them."""
    with open(os.path.join(root, "Scripts", "setup"), encoding="utf-8") as file:
        build = re.search(r"(?m)^packages=\(([^)]*)\)$", file.read())
    if build is None:
        raise Missing("Scripts/setup has no line 'packages=(…)', which names the Debian packages of the build")
    known = read_json(os.path.join(root, KNOWN_LICENSES), "restore the file from the repository")
    return {"build": sorted(build[1].split()), "programs": sorted(known["debian"])}


def installed_versions(names):
    """The versions of the Debian packages that are installed."""
    try:
        result = subprocess.run(
            ["dpkg-query", "--show", "--showformat=${Package} ${Version} ${Status}\\n", *names], capture_output=True, text=True,
            check=False)
    except FileNotFoundError:
        return {}
    fields = (line.split(" ", 2) for line in result.stdout.splitlines())
    return {name: version for name, version, status in fields if status == "install ok installed"}


# The record


def read_record(root):
    path, remedy = os.path.join(root, RECORD), "restore the file from the repository, or run 'Scripts/dependencies --record'"
    record = read_json(path, remedy)
    if not isinstance(record, dict) or not all(key in record for key in ("swift", "packages", "debian")):
        raise Missing(f"{path} is no record of dependencies\n   = {remedy}")
    return record


def new_record(root):
    """The record of what is here."""
    sources = Sources(root)
    if sources.is_release:
        raise Missing("the sources of a release have changed packages in vendor/\n   = record the packages in a clone of the repository")
    packages = []
    for pin in sources.pins:
        found = sources.digest_of_checkout(pin)
        if found is None:
            raise Missing(f"{sources.checkout(pin)} is not there\n   = run 'swift package resolve', and try again")
        if changed := sources.changed_files(pin):
            raise Missing(
                f"{name_of(pin['location'])}: files in {sources.checkout(pin)} were changed: {shortened(changed)}\n"
                "   = remove this folder, run 'swift package resolve', and try again")
        packages.append({
            "name": name_of(pin["location"]), "location": pin["location"].removesuffix(".git"), "version": version_of(pin),
            "revision": pin["state"]["revision"], "sha256": found})
    toolchain, names = swift_version(), debian_packages(root)
    if toolchain is None:
        raise Missing("swift is not installed\n   = install Swift 6.3 or later, and try again")
    installed = installed_versions(names["build"] + names["programs"])
    if missing := sorted(set(names["build"] + names["programs"]) - set(installed)):
        raise Missing(f"these Debian packages are not installed: {', '.join(missing)}\n   = run Scripts/setup, and try again")
    return {
        "about": ABOUT, "swift": toolchain, "packages": sorted(packages, key=lambda package: package["name"].lower()),
        "debian": {group: {name: installed[name] for name in names[group]} for group in sorted(names)}}


def write_record(root, record):
    path = os.path.join(root, RECORD)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    os.replace(f"{path}.new", path)


# The comparison


class Difference(typing.NamedTuple):
    """What differs from the record, and what to do."""
    text: str
    remedies: tuple


OF_VERSIONS = (
    "run 'Scripts/dependencies --resolve' to take the recorded packages",
    "or test the new ones by 'make test', and record them by 'Scripts/dependencies --record'")
OF_FILES = (
    "find out who changed the files before you build with them",
    "to fetch them again, remove the folder in .build/checkouts and run 'swift package resolve'")
OF_MISSING = ("run 'swift package resolve', and try again",)
OF_DEBIAN = ("run 'Scripts/dependencies --record'",)


def lines(differences):
    """The texts of differences, and below them each remedy once."""
    remedies = dict.fromkeys(remedy for difference in differences for remedy in difference.remedies)
    return [difference.text for difference in differences] + [f"   = {remedy}" for remedy in remedies]


def shortened(names, limit=5):
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def differences(root, record, sources, digest_of):
    """All differences from the record. `digest_of` gives the digest of a pin's files."""
    pins = {name_of(pin["location"]): pin for pin in sources.pins}
    recorded = {package["name"]: package for package in record["packages"]}
    found = []
    for name in sorted(set(pins) | set(recorded), key=str.lower):
        if name not in pins:
            found.append(Difference(f"{name}: recorded {recorded[name]['version']}, but Package.resolved does not name it", OF_VERSIONS))
        elif name not in recorded:
            found.append(Difference(f"{name}: Package.resolved names {version_of(pins[name])}, but no version is recorded", OF_VERSIONS))
        else:
            found.append(compare(recorded[name], pins[name], sources, digest_of))
    for group, names in debian_packages(root).items():
        if odd := sorted(set(names) ^ set(record["debian"].get(group, {}))):
            found.append(Difference(f"Debian packages of '{group}': the record and the sources do not agree about {shortened(odd)}", OF_DEBIAN))
    return [difference for difference in found if difference is not None]


def compare(recorded, pin, sources, digest_of):
    """How a package differs from its record; None if it does not."""
    name, location, version = recorded["name"], pin["location"].removesuffix(".git"), version_of(pin)
    if location != recorded["location"]:
        return Difference(f"{name}: recorded from {recorded['location']}, found from {location}", OF_VERSIONS)
    if version != recorded["version"]:
        return Difference(f"{name}: recorded {recorded['version']}, found {version}", OF_VERSIONS)
    if sources.is_release:
        return None
    found = digest_of(pin)
    if found is None:
        return Difference(f"{name}: {sources.checkout(pin)} is not there", OF_MISSING)
    if found == recorded["sha256"]:
        return None
    changed = sources.changed_files(pin)
    where = f" ({shortened(changed)})" if changed else ""
    return Difference(
        f"{name} {version}: the files are not the recorded ones{where}: recorded {recorded['sha256']}, found {found}", OF_FILES)


def remarks(record):
    """Other versions of Swift and of Debian packages. They are no errors: Debian corrects its packages and keeps their interfaces."""
    found, toolchain = [], swift_version()
    if toolchain is not None and toolchain != record["swift"]:
        found.append(f"Swift {record['swift']} is recorded, and Swift {toolchain} is installed")
    recorded = {name: version for group in record["debian"].values() for name, version in group.items()}
    installed = installed_versions(sorted(recorded))
    others = [f"{name} {installed[name]}" for name in sorted(recorded) if installed.get(name, recorded[name]) != recorded[name]]
    if others:
        found.append(f"other versions of these Debian packages are recorded: {shortened(others)}")
    return found
