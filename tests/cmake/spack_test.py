"""The recipe for Spack, read as Spack would, against the project: spack_test.py SOURCE VERSION CACHE

Directives and base classes are stand-ins that write down what they are called with.
"""

import re
import sys
import types
from pathlib import Path

source, version, cache = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]).read_text("utf-8")
recipe = source / "cmake/spack/spack_repo/blockspan/packages/blockspan/package.py"
called = []


def directive(name):
    return lambda *given, **more: called.append((name, given, more))


class Package:
    cuda_arch_values = ("80", "90")

    def define(self, option, value):
        return option, value

    def define_from_variant(self, option, variant):
        assert variant in variants, variant
        return option, True

    def __getitem__(self, name):
        return types.SimpleNamespace(prefix=f"/{name}", kokkos_cxx="c++")


names = ("license", "version", "variant", "depends_on", "conflicts")
modules = {
    "spack.package": {name: directive(name) for name in names},
    "spack_repo.builtin.build_systems.cmake": {
        "CMakePackage": type("CMakePackage", (Package,), {})
    },
    "spack_repo.builtin.build_systems.cuda": {"CudaPackage": type("CudaPackage", (Package,), {})},
}
for name, content in modules.items():
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:i]), types.ModuleType(".".join(parts[:i])))
    vars(sys.modules[name]).update(content)
space = {}
exec(compile(recipe.read_text("utf-8"), recipe, "exec"), space)

# The version is the project's, and conditions name variants that there are.
assert [given[0] for name, given, _ in called if name == "version"] == [version]
variants = {given[0] for name, given, _ in called if name == "variant"}
for name, given, more in called:
    for word in re.findall(r"[+~](\w+)", more.get("when", "")):
        assert word in variants | {"cuda"}, (word, more)

# Every option of the build is one that the project has, and scalars are those that it knows.
package = space["Blockspan"]()
package.run_tests = False
scalars = next(more["values"] for _, given, more in called if given[:1] == ("scalars",))
package.spec = types.SimpleNamespace(variants={"scalars": types.SimpleNamespace(value=scalars)})
options = [option for option, _ in package.cmake_args()]
for option in options:
    if option.startswith("Blockspan_"):
        assert re.search(rf"(?m)^{option}:", cache), f"the project has no option {option}"
assert "Blockspan_SCALARS" in options
known = (source / "cmake/Instantiations.cmake").read_text("utf-8")
for scalar in scalars:
    assert re.search(rf"\b{scalar}\b", known), scalar
