# SPDX-License-Identifier: GPL-2.0-or-later
"""What readers of JUnit XML agree on, in our own words: the elements and attributes that Jenkins' schema
junit-10.xsd knows, which of them must be there, and that the numbers are those of what is inside."""
import re
import xml.etree.ElementTree as ET

TIME = re.compile(r"[0-9]+(\.[0-9]+)?")

# Of each element: attributes that must be there, that may, and the elements that may be inside.
SHAPES = {
    "testsuites": ((), ("name", "time", "tests", "failures", "errors"), ("testsuite",)),
    "testsuite": (("name", "tests", "failures", "errors"),
                  ("time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url", "group"),
                  ("testsuite", "properties", "testcase", "system-out", "system-err")),
    "properties": ((), (), ("property",)),
    "property": (("name", "value"), (), ()),
    "testcase": (("name",), ("time", "classname", "group"),
                 ("skipped", "error", "failure", "flakyFailure", "flakyError", "rerunFailure", "rerunError",
                  "system-out", "system-err")),
    "skipped": ((), ("type", "message"), ()),
    "error": ((), ("type", "message"), ()),
    "failure": ((), ("type", "message"), ()),
    "flakyFailure": (("type",), ("message",), ("stackTrace", "system-out", "system-err")),
    "system-out": ((), (), ()),
    "system-err": ((), (), ()),
}


def check_shape(element):
    must, may, inside = SHAPES[element.tag]
    assert set(must) <= set(element.attrib) <= set(must) | set(may), (element.tag, element.attrib)
    if "time" in element.attrib:
        assert TIME.fullmatch(element.get("time")), element.get("time")
    for child in element:
        assert child.tag in inside, f"{child.tag} in {element.tag}"
        check_shape(child)


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
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    check_shape(root)
    for element in (root, *root.iter("testsuite")):
        check_counts(element)
    return root
