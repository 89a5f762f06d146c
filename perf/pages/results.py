"""What a file of results holds: cases, and in each the kernels that took part."""

import json
import math


PEERS = ("cusparse", "kokkos-kernels")
SOLVERS = ("solvers", "multigrid")  # studies whose kernels are solvers


def read(path):
    """Results, or a record of them (compact.py): what a record leaves out is filled in."""
    document = json.loads(path.read_text(encoding="utf-8"))
    refusals = document.get("refusals")
    for case in document.get("cases", []) if refusals is not None else []:
        case.setdefault("source", case["matrix"])
        if "nonzeros" in case:
            case.setdefault("mean", case["nonzeros"] / max(case["rows"], 1))
        for kernel in case.get("kernels", []):
            kernel.setdefault("family", family_of(kernel["id"]))
            if "refused" in kernel:
                kernel["refused"] = refusals[int(kernel["refused"])]
            if "setup_ms" in kernel and median(kernel):
                kernel["setup_products"] = kernel["setup_ms"] / median(kernel)
    return document


def family_of(name):
    """The family that an id belongs to unless its kernel says otherwise."""
    first, *rest = name.split("/")
    return first if rest and first != "auto" else "blockspan"


def median(kernel):
    """Milliseconds of a kernel that was right, else None."""
    return kernel["ms"]["median"] if kernel and "ms" in kernel else None


def is_choice(kernel):
    """Whether it is the plan's choice (in either layout) rather than a variant by its name."""
    return kernel["id"].split("/")[0] == "auto"


def kernels(case, family):
    """The kernels of a family; of Blockspan the menu, without the plan's choice."""
    return [k for k in case.get("kernels", []) if k["family"] == family and not is_choice(k)]


def fastest(some):
    return min((k for k in some if median(k)), key=median, default=None)


def with_id(case, name):
    return next((k for k in case.get("kernels", []) if k["id"] == name), None)


def auto(case):
    return with_id(case, "auto")


def groups(cases):
    """Their names in the order of the results."""
    return list(dict.fromkeys(case["group"] for case in cases))


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def troubles(results):
    """Wrong, unconverged and refused kernels: (id, what) -> cases."""
    found = {}
    for case in results["cases"]:
        for kind in ("error", "refused"):
            if kind in case:
                what = case[kind] if kind == "error" else "refused: " + case[kind]
                found.setdefault(("the whole case", what), []).append(case)
        for kernel in case.get("kernels", []):
            if "refused" in kernel:
                found.setdefault((kernel["id"], "refused: " + kernel["refused"]), []).append(case)
            elif "unconverged" in kernel:
                what = "NOT CONVERGED: " + kernel["unconverged"]
                found.setdefault((kernel["id"], what), []).append(case)
            elif not kernel.get("right", True):
                found.setdefault((kernel["id"], "WRONG"), []).append(case)
    return found
