"""How numbers and tables are written."""


def ms(value):
    return "-" if value is None else f"{value:.4f}"


def ratio(over, under):
    return "-" if not over or not under else f"{over / under:.2f}"


def short(kernel):
    """A peer's id without the name of the peer."""
    if not kernel:
        return "-"
    return kernel["id"] if kernel["family"] == "blockspan" else kernel["id"].split("/", 1)[-1]


def name(case):
    return f"`{case['matrix']}` {case['scalar']} n = {case['columns']}"


def cell(value):
    return str(value).split("\n")[0].replace("|", "\\|")


def table(head, rows):
    """Text in the first column, numbers and text as they come in the others."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows] + [""]


def listing(items, none="None."):
    return [f"- {item}" for item in items] + [""] if items else [none, ""]


NAMES = {"kokkos": "Kokkos", "kokkos_kernels": "Kokkos Kernels", "cuda": "CUDA", "cuda_driver":
         "driver", "cusparse": "cuSPARSE", "blockspan": "Blockspan", "numpy": "NumPy", "scipy": "SciPy",
         "cuda_compiler": "nvcc", "gcc": "GCC", "openblas": "OpenBLAS"}


def device_of(results):
    """The device, or how many threads of a host."""
    device = results.get("device") or {}
    if isinstance(device, str):
        return device
    threads = device.get("threads")
    return device.get("name") or (f"a host, {threads} thread" + ("s" if threads != 1 else "")
                                  if threads else "a host")


def origin(results):
    """The first line of a page: commit, device, date and versions."""
    backend = f" ({results['backend']})" if results.get("backend") else ""
    commit = f"Commit `{results['commit']}`, " if results.get("commit") else ""
    versions = {**results.get("versions", {}),
                **{key: value for key, value in results.get("judge", {}).items() if key in NAMES}}
    built = ", ".join(f"{NAMES.get(key, key)} {value}" for key, value in versions.items())
    line = f"{commit}{device_of(results)}{backend}, {results['date'][:10]}"
    return line + (f": {built}." if built else ".")
