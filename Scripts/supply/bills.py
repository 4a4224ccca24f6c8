"""A bill of materials, and its two forms: CycloneDX 1.5 and SPDX 2.3, both in JSON. They state the same facts."""

import dataclasses
import datetime
import hashlib
import json
import re
import uuid

DIGEST_OF_FILES = "The SHA-256 is that of the list of the package's files, as Scripts/dependencies computes it"

PURPOSES = {"application": "APPLICATION", "library": "LIBRARY", "framework": "FRAMEWORK"}


@dataclasses.dataclass
class Part:
    """A program or library. `reference` is unique in the bill."""
    reference: str
    name: str
    version: str | None
    kind: str
    license: str
    purl: str | None = None
    supplier: str | None = None
    description: str | None = None
    location: str | None = None
    """The address of its repository."""
    revision: str | None = None
    """The commit or tag in the repository."""
    sha256: str | None = None
    """The digest of its files."""
    is_linked_statically: bool = False
    parts: list = dataclasses.field(default_factory=list)
    """Software of others that is a part of it."""


@dataclasses.dataclass
class Bill:
    """What a version of a program consists of, and what it loads."""
    whole: Part
    programs: list
    parts: list
    uses: dict
    """The references of the parts that each program uses, by the reference of the program."""
    time: int
    """When the sources were committed, in seconds since 1970."""

    def moment(self):
        return datetime.datetime.fromtimestamp(self.time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def identity(self, form):
        """An identifier of this content in this form. The same bill has the same one."""
        facts = json.dumps([dataclasses.asdict(part) for part in self.programs + self.parts] + [self.uses], sort_keys=True)
        content = hashlib.sha256(facts.encode()).hexdigest()
        return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{self.whole.name}/{self.whole.version}/{form}/{content}')}"


def present(**fields):
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value}


# CycloneDX


def cyclonedx_component(part):
    component = {"type": part.kind, "bom-ref": part.reference, **present(
        supplier=part.supplier and {"name": part.supplier}, name=part.name, version=part.version, description=part.description)}
    if part.sha256:
        component["hashes"] = [{"alg": "SHA-256", "content": part.sha256}]
    component["licenses"] = [{"expression": part.license}]
    if part.purl:
        component["purl"] = part.purl
    if part.location:
        component["externalReferences"] = [{"type": "vcs", "url": part.location, "comment": f"revision {part.revision}"}]
    if part.parts:
        component["components"] = [cyclonedx_component(inner) for inner in part.parts]
    if part.sha256:
        component["properties"] = [{"name": "penumbra:hash", "value": DIGEST_OF_FILES}]
    return component


def cyclonedx(bill):
    uses = [{"ref": bill.whole.reference, "dependsOn": [program.reference for program in bill.programs]}]
    uses += [{"ref": program.reference, "dependsOn": sorted(bill.uses[program.reference])} for program in bill.programs]
    uses += [{"ref": part.reference, "dependsOn": []} for part in bill.parts]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5",
        "serialNumber": bill.identity("CycloneDX"), "version": 1,
        "metadata": {"timestamp": bill.moment(), "component": cyclonedx_component(bill.whole)},
        "components": [cyclonedx_component(part) for part in bill.programs + bill.parts], "dependencies": uses}


# SPDX


def spdx_identifier(part):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", part.reference).strip("-")


def spdx_package(part):
    package = {
        "name": part.name, "SPDXID": spdx_identifier(part), **present(versionInfo=part.version),
        "downloadLocation": f"git+{part.location}@{part.revision}" if part.location else "NOASSERTION", "filesAnalyzed": False,
        "supplier": f"Organization: {part.supplier}" if part.supplier else "NOASSERTION",
        "licenseConcluded": part.license, "licenseDeclared": part.license, "copyrightText": "NOASSERTION",
        "primaryPackagePurpose": PURPOSES[part.kind]}
    if part.sha256:
        package["checksums"] = [{"algorithm": "SHA256", "checksumValue": part.sha256}]
        package["sourceInfo"] = DIGEST_OF_FILES
    if part.purl:
        package["externalRefs"] = [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": part.purl}]
    if part.description:
        package["comment"] = part.description
    return package


def spdx(bill):
    packages, relationships = [], []

    def relate(first, kind, second):
        relationships.append({"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second})

    def add(part, container=None):
        packages.append(spdx_package(part))
        if container:
            relate(spdx_identifier(container), "CONTAINS", spdx_identifier(part))
        for inner in part.parts:
            add(inner, part)

    relate("SPDXRef-DOCUMENT", "DESCRIBES", spdx_identifier(bill.whole))
    add(bill.whole)
    for program in bill.programs:
        add(program, bill.whole)
    for part in bill.parts:
        add(part)
    parts = {part.reference: part for part in bill.parts}
    for program in bill.programs:
        for reference in sorted(bill.uses[program.reference]):
            kind = "STATIC_LINK" if parts[reference].is_linked_statically else "DYNAMIC_LINK"
            relate(spdx_identifier(program), kind, spdx_identifier(parts[reference]))
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{bill.whole.name}-{bill.whole.version}", "documentNamespace": bill.identity("SPDX"),
        "creationInfo": {"created": bill.moment(), "creators": ["Tool: Penumbra-make-sbom"]},
        "packages": packages, "relationships": relationships}
