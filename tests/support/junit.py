# SPDX-License-Identifier: GPL-2.0-or-later
"""JUnit XML is what its readers agree on (junit.xsd), and its numbers are those of what is inside."""
import pathlib
import subprocess
import xml.etree.ElementTree as ET

SCHEMA = pathlib.Path(__file__).with_name("junit.xsd")


def check_counts(element):
    cases = list(element.iter("testcase"))
    counts = {"tests": len(cases)}
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        counts[name] = sum(case.find(tag) is not None for case in cases)
    for name, count in counts.items():
        if name in element.attrib:
            assert int(element.get(name)) == count, (element.get("name"), name)


def check(text):
    """The root of a document, once it is what it should be."""
    data = text if isinstance(text, bytes) else text.encode()
    p = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", SCHEMA, "-"], input=data,
                       capture_output=True, check=False)
    assert p.returncode == 0, p.stderr.decode(errors="replace")
    root = ET.fromstring(data)
    assert root.tag == "testsuites"
    for element in (root, *root.iter("testsuite")):
        check_counts(element)
    return root
