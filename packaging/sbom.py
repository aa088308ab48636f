#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""List what the packages of a release contain and need: sbom.py FOLDER

FOLDER holds the source archive, the Debian packages and the wheel; FOLDER/kith-VERSION.spdx.json is
written, in SPDX 2.3. What is listed is read from the packages themselves: the shared libraries that
their programs and libraries need, by readelf; those that the wheel carries, which auditwheel copied
into it; what the wheel's metadata require. A library is named by the Debian package that it comes
from on this machine, with its version. The time stamp is SOURCE_DATE_EPOCH.
"""
import datetime
import email
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

UNKNOWN = "NOASSERTION"


def run(*command):
    """Return the output of a command; "" where it fails."""
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False).stdout


def debian_package(library):
    """Return the name of the Debian package that a shared library of this machine is from, or "".
    Its name is what programs need, libz.so.1, or that of the file, libz.so.1.2.13."""
    places = []
    for line in run("/sbin/ldconfig", "-p").splitlines():
        soname, _, path = line.strip().partition(" => ")
        file = os.path.realpath(path)
        if library in (soname.split(" ")[0], os.path.basename(file)):
            for place in (path, file):  # dpkg may know it by /lib or by /usr/lib
                places += [place, place.removeprefix("/usr"), "/usr" + place]
    return run("dpkg", "-S", *places).split(":")[0] if places else ""


def copied_library(name):
    """Return the name of a shared library by that of its copy in a wheel, to which auditwheel added
    eight digits of a hash: liblber-2-64f183c1.5.so.0."""
    return re.sub(r"-[0-9a-f]{8}(?=\.)", "", name)


def spdx_id(text):
    """Return an identifier of SPDX."""
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", text)


class Document:
    """Packages and relationships of a document of SPDX, each once."""

    def __init__(self):
        self.packages, self.relationships = {}, []

    def package(self, name, version, **fields):
        """Add a package, if it is not there yet. Return its identifier."""
        known = spdx_id(f"Package-{name}")
        self.packages.setdefault(known, {
            "SPDXID": known, "name": name, "versionInfo": version, "downloadLocation": UNKNOWN,
            "filesAnalyzed": False, "licenseConcluded": UNKNOWN, "licenseDeclared": UNKNOWN,
            "copyrightText": UNKNOWN, **fields})
        return known

    def relate(self, one, kind, other):
        """Add a relationship, if it is not there yet."""
        relationship = {"spdxElementId": one, "relationshipType": kind,
                        "relatedSpdxElement": other}
        if relationship not in self.relationships and one != other:
            self.relationships.append(relationship)

    def debian(self, library):
        """Add the Debian package that a shared library of this machine is from."""
        name = debian_package(library)
        if not name:
            return self.package(library, UNKNOWN, comment="a shared library of no Debian package")
        version = run("dpkg-query", "-W", "-f", "${Version}", name)
        locator = f"pkg:deb/debian/{name}@{version}?distro=bookworm"
        return self.package(
            name, version, supplier="Organization: Debian",
            licenseComments=f"On Debian, /usr/share/doc/{name}/copyright has the licence.",
            externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                           "referenceLocator": locator}])


def needed(folder):
    """Return the names of the shared libraries that the ELF files below a folder need, and the
    names that these files have themselves."""
    own, names = set(), set()
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF":
            own.add(path.name)
            for line in run("readelf", "-dW", path).splitlines():
                found = re.search(r"\((NEEDED|SONAME)\).*\[(.*)\]", line)
                if found:
                    (names if found.group(1) == "NEEDED" else own).add(found.group(2))
    return names - own, own


def unpack(path, folder):
    """Unpack a Debian package or a wheel."""
    if path.suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", path, folder], check=True)
    else:
        zipfile.ZipFile(path).extractall(folder)


def describe(folder):
    """Return the document of a folder's packages, and the version of kith."""
    archive = next(folder.glob("kith-*.tar.gz"))
    version = archive.name.removeprefix("kith-").removesuffix(".tar.gz")
    document, contents = Document(), {}
    for path in [archive, *sorted(folder.glob("*.deb")), *sorted(folder.glob("*.whl"))]:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        one = document.package(
            path.name, version, supplier="Organization: The kith developers",
            packageFileName=path.name, licenseConcluded="BSD-3-Clause",
            licenseDeclared="BSD-3-Clause", copyrightText="2026 The kith developers",
            checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
        document.relate("SPDXRef-DOCUMENT", "DESCRIBES", one)
        if path == archive:
            source = one
        else:
            document.relate(one, "GENERATED_FROM", source)
            contents[path] = one
    providers, wanted = {}, []
    with tempfile.TemporaryDirectory() as work:
        for path, one in contents.items():
            place = pathlib.Path(work) / path.name
            unpack(path, place)
            names, own = needed(place)
            wanted.append((one, names))
            if path.suffix == ".deb":
                providers.update(dict.fromkeys(own, one))
                continue
            for library in sorted(place.glob("*.libs/*")):
                document.relate(one, "CONTAINS", document.debian(copied_library(library.name)))
            for metadata in place.glob("*.dist-info/METADATA"):
                for line in email.message_from_string(metadata.read_text()).get_all(
                        "Requires-Dist", []):
                    if "extra ==" not in line:
                        name = re.match(r"[\w.-]+", line).group()
                        document.relate(one, "DEPENDS_ON", document.package(
                            name, UNKNOWN, supplier="Organization: Python Package Index",
                            externalRefs=[{
                                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                "referenceLocator": f"pkg:pypi/{name}"}]))
    for one, names in wanted:
        for name in sorted(names):
            document.relate(one, "DEPENDS_ON", providers.get(name) or document.debian(name))
    return document, version, hashlib.sha256(archive.read_bytes()).hexdigest()


def main():
    """Write the list. Return the exit status."""
    folder = pathlib.Path(sys.argv[1])
    document, version, digest = describe(folder)
    time = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]),
                                           datetime.timezone.utc)
    target = folder / f"kith-{version}.spdx.json"
    target.write_text(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"kith-{version}", "documentNamespace": f"https://kith.invalid/spdx/{digest}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: kith-packaging-sbom.py"]},
        "packages": list(document.packages.values()),
        "relationships": document.relationships}, indent=1) + "\n", encoding="utf-8")
    print(f"{target}: {len(document.packages)} packages, {len(document.relationships)} relationships")
    return 0


if __name__ == "__main__":
    sys.exit(main())
