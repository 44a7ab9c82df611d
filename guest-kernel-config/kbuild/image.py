# SPDX-License-Identifier: GPL-2.0-or-later
"""Images as kernels.yaml describes them: base, fragments, patches, and the key over all of it."""
import re

from .common import ABI_HEADER, FORMAT, HERE, Failure, hash_of, tool_version

REQUEST = re.compile(r"(CONFIG_\w+)=(.+)|# (CONFIG_\w+) is not set")


def load_yaml(name):
    try:
        import yaml
    except ImportError:
        raise Failure(4, "python3 has no yaml module: install the package python3-yaml") from None
    path = HERE / name
    try:
        data = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError) as e:
        raise Failure(4, f"cannot read {path}: {e}") from None
    if not isinstance(data, dict):
        raise Failure(4, f"{path}: expected a mapping at the top")
    return data


def read_series():
    lines = (HERE / "patches/series").read_text().splitlines()
    return [s for s in (line.split("#")[0].strip() for line in lines) if s]


def parse_config(path, strict):
    """{symbol: (value, where)}; strict refuses lines that are no request."""
    symbols = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        m = REQUEST.fullmatch(line)
        if m:
            symbol, value = (m[1], m[2]) if m[1] else (m[3], "n")
            symbols[symbol] = (value, f"{path.name}:{number}")
        elif strict and line and (not line.startswith("#") or line.startswith("# CONFIG_")):
            raise Failure(4, f"{path}:{number}: neither CONFIG_X=value nor '# CONFIG_X is not set': {line}")
    return symbols


class Image:
    """One image of kernels.yaml with the files it names resolved."""

    def __init__(self, name):
        images = load_yaml("kernels.yaml")
        if name not in images:
            raise Failure(2, f"no image '{name}' in kernels.yaml; there is: {', '.join(images)}")
        spec = images[name]
        known = {"description", "base", "fragments", "patches", "objects"}
        if not isinstance(spec, dict) or set(spec) - known:
            raise Failure(4, f"kernels.yaml: image '{name}' may have only {sorted(known)}")
        bases = load_yaml("base.yaml")
        if spec.get("base") not in bases:
            raise Failure(4, f"kernels.yaml: image '{name}': no base '{spec.get('base')}' in base.yaml")
        self.name = name
        self.description = spec.get("description", "")
        self.base = bases[spec["base"]]
        # Images that differ in little share a folder of objects; one that shares none has its own.
        self.objects = str(spec.get("objects", "shared"))
        if not re.fullmatch(r"[a-z0-9-]+", self.objects):
            raise Failure(4, f"kernels.yaml: image '{name}': objects is a word, not '{self.objects}'")
        self.fragments = [HERE / "fragments" / f"{f}.config" for f in spec.get("fragments", [])]
        self.patches = []
        for p in spec.get("patches", []):
            names = read_series() if p == "series" else [p]
            self.patches += [HERE / "patches" / n for n in names]
        for f in self.fragments + self.patches:
            if not f.is_file():
                raise Failure(4, f"kernels.yaml: image '{name}': {f} does not exist")

    def requests(self):
        """{symbol: (value, where)} of all fragments; a later fragment overrides an earlier one."""
        wanted = {}
        for f in self.fragments:
            wanted.update(parse_config(f, strict=True))
        return wanted

    def _made_with(self):
        return [("format", FORMAT.encode()),
                ("base", f"{self.base['version']} {self.base['sha256']}".encode()),
                ("compiler", f"{tool_version('gcc')}\n{tool_version('ld')}".encode())]

    def _patch_parts(self):
        parts = [(f"patch {p.name}", p.read_bytes()) for p in self.patches]
        return parts + ([("abi", ABI_HEADER.read_bytes())] if self.patches else [])

    def key(self):
        """Hash of all that decides what the image is."""
        fragments = [(f"fragment {f.name}", f.read_bytes()) for f in self.fragments]
        return hash_of(self._made_with() + fragments + self._patch_parts())

    def workshop(self):
        """Hash of what the images have in common that may be built in one tree."""
        return hash_of(self._made_with())

    def series_key(self):
        """Hash of the base, the compiler and the patches, whatever the configuration."""
        return hash_of(self._made_with() + self._patch_parts())
