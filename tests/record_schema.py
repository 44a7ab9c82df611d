# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/compare-results.schema.json, and whether lines of results are as it says."""
import json
import pathlib

import jsonschema

SCHEMA = json.loads((pathlib.Path(__file__).resolve().parents[1] / "docs/compare-results.schema.json").read_text())
jsonschema.Draft7Validator.check_schema(SCHEMA)


def validator(name):
    return jsonschema.Draft7Validator({"$ref": f"#/definitions/{name}", "definitions": SCHEMA["definitions"]})


VALIDATORS = {name: validator(name) for name in ("plan", "calibration", "no_calibration", "noise_floor", "boot", "record")}


def complaints(line, name=None):
    """What is wrong with a line, by the definition of its type; a boot without a place is a record."""
    name = name or line["type"].replace("-", "_")
    if name == "boot" and "slot" not in line:
        name = "record"
    return [f"{list(e.absolute_path)}: {e.message[:300]}" for top in VALIDATORS[name].iter_errors(line)
            for e in (top, *top.context)]


def check_file(path):
    """Every line of a results file; returns them."""
    lines = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    for number, line in enumerate(lines, 1):
        assert complaints(line) == [], f"{path}:{number}"
    assert [line["type"] for line in lines].index("plan") == 0
    return lines
