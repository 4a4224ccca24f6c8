"""The licenses that packaging/licenses/known.json knows, and how the license of a file is recognised."""

import hashlib
import json
import os
import re

from supply.dependencies import KNOWN_LICENSES, Missing

OWN_LICENSE = "Apache-2.0 WITH Swift-exception"

# Words by which a file says under which license it is.
STATEMENT = re.compile(
    r"Permission is hereby granted|Permission to use, copy|Redistribution and use in source|General Public License|"
    r"Mozilla Public License|Boost Software License|Creative Commons|All rights reserved|"
    r"\b[Ll]icensed (?:under|to)\b.*|(?:LICENSE|SPDX-License-Identifier): *\S.*")
# What the header of most files of Swift's packages says; their LICENSE file is the text that it means.
APACHE_HEADER = re.compile(r"Licensed under (?:the )?Apache License,? (?:v|Version )2\.0(?: with Runtime Library Exception)?$")
MIT = re.compile(
    r"Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated "
    r'documentation files \(the "Software"\), to deal in the Software without restriction, including without limitation '
    r"the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to "
    r"permit persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright "
    r"notice and this permission notice shall be included in all copies or substantial portions of the Software\. THE "
    r'SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE '
    r"WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT\. IN NO EVENT SHALL THE AUTHORS OR "
    r"COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR "
    r"OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE\.")
# What a license file may say beside the text of MIT.
MIT_TITLE = re.compile(r"(?:(?:The )?MIT License(?: \(MIT\))?|This software is licensed under the MIT License\.|Copyright .*)?")


def words_of(text):
    """A text without the marks of comments, with single blanks."""
    lines = (re.sub(r"^\s*(?:/\*+|\*+/?|//+|#+)?", "", line) for line in text.splitlines())
    return " ".join(" ".join(lines).split())


def digest(text):
    return hashlib.sha256(words_of(text).encode()).hexdigest()


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise Missing(f"{path} cannot be read: {error.strerror}") from error


class Licenses:
    """The licenses that are known, and the problems with others."""

    def __init__(self, root):
        self.path = KNOWN_LICENSES
        try:
            known = json.loads(read(os.path.join(root, self.path)))
        except json.JSONDecodeError as error:
            raise Missing(f"{self.path} is not JSON: {error}") from error
        self.texts = {entry["sha256"]: entry["license"] for entry in known["texts"]}
        self.statements = {entry["words"]: entry["license"] for entry in known["statements"]}
        self.shippable = set(known["shippable"])
        self.runtime = known["swift_runtime"]
        self.debian = known["debian"]
        self.pypi = known["pypi"]
        self.files = known["files"]
        self.site = known["site"]
        self.problems = []

    def problem(self, what, *remedies):
        self.problems.append("\n".join([what] + [f"   = {remedy}" for remedy in remedies]))

    def of_file(self, path, name):
        """The license whose text a license file is; None for an unknown one, which becomes a problem."""
        text = read(path)
        if known := self.texts.get(digest(text)):
            return known
        # A license file of MIT has a line of copyright of its own, so it has a digest of its own.
        grant = re.search(r"(?s)Permission is hereby granted.*", text)
        if grant and MIT.fullmatch(words_of(grant[0])):
            if all(MIT_TITLE.fullmatch(line.strip()) for line in text[:grant.start()].splitlines()):
                return "MIT"
        self.problem(
            f"{name}: the license in {path} is unknown", "read it, and decide whether Penumbra may be shipped with it",
            f'if it may, add its identifier of SPDX to "texts" in {self.path}, with the digest {digest(text)}')
        return None

    def stated_in(self, path, name):
        """The licenses that a source file states for itself, and whether it has the text of one."""
        text = read(path)
        found = set()
        rest = MIT.sub("", words_of(text)) if "Permission is hereby granted" in text else text
        if rest is not text:
            found.add("MIT")
        for line in rest.splitlines():
            for match in STATEMENT.finditer(line):
                statement = match[0].rstrip("*/ ")
                if APACHE_HEADER.match(statement):
                    continue
                license = self.statements.get(statement) or re.sub(r"^(LICENSE|SPDX-License-Identifier): *", "", statement)
                if license in self.shippable:
                    found.add(license)
                    continue
                self.problem(
                    f"{name}: it says \"{statement}\", which is unknown",
                    f"read {path}, and decide whether Penumbra may be shipped with it",
                    f'if it may, add these words and the license to "statements" in {self.path}')
        return found, rest is not text
