"""The model of the study `ranks`: parameters taken from its measurements, what it gives for the ranks
that were measured, and for many more GPUs.

A product: pack + max(interior, messages) + ends, messages = latency + bytes / bandwidth; with NCCL
packing is beside the interior too. An iteration of a solver: that of one rank, what its products take
longer, and its sums over ranks."""

import math

from pages.results import median, with_id
from pages.text import listing, ms, ratio, table

RANKS = (8, 64, 512, 1000)
OF_HOST = 8  # GPUs that reach each other as those measured do
NETWORK = {"latency": 0.005, "gbytes": 45}  # beyond: more milliseconds a message, GB/s each way a GPU
GROUP = 16  # ranks whose sums are gathered at once


def bytes_of(case):
    """That the rank with the largest halo receives in an exchange of the case's columns."""
    return 8 * case["halo_rows"] * case["columns"]


def of_kind(results, kind):
    return [case for case in results["cases"] if case["group"].startswith(kind + ", ")
            and median(with_id(case, "alone")) and median(with_id(case, "auto"))]


def line(points):
    """Least squares of relative errors of y = a + b x, neither below zero: (a, b)."""
    points = [(x, y, 1 / y**2) for x, y in points if y > 0]
    if not points:
        return 0.0, 0.0
    w, wx, wy = (sum(p[2] * value(p) for p in points)
                 for value in (lambda p: 1, lambda p: p[0], lambda p: p[1]))
    wxx, wxy = (sum(p[2] * p[0] * p[k] for p in points) for k in (0, 1))
    spread = w * wxx - wx * wx
    slope = (w * wxy - wx * wy) / spread if spread > 1e-12 * w * wxx else 0.0
    start = (wy - slope * wx) / w
    if slope < 0:
        return wy / w, 0.0
    return (start, slope) if start >= 0 else (0.0, wxy / wxx)


def parameters(results):
    """Milliseconds, and milliseconds a byte; None where nothing was exchanged."""
    cases = [case for case in of_kind(results, "products") if case["halo_rows"] > 0]
    if not cases:
        return None
    time = {who: [(bytes_of(case), median(with_id(case, who))) for case in cases]
            for who in ("pack", "exchange")}
    messages = [(x, all_ - pack) for (x, all_), (_, pack) in zip(time["exchange"], time["pack"])]
    (pack, pack_byte), (latency, byte) = line(time["pack"]), line(messages)
    sums = [case for case in results["cases"] if case["group"] == "sums over ranks"]
    small, large = (min(sums, key=lambda c: c["columns"]), max(sums, key=lambda c: c["columns"]))
    device = with_id(small, "device_gather") or with_id(small, "fold")
    return {"launch": results["launch_ms"], "pack": pack, "pack_byte": pack_byte, "latency": latency,
            "byte": byte, "fold": median(with_id(large, "fold")), "device_fold": median(device),
            "packs_beside": "nccl" in results["transport"]}


def over_network(p, ranks):
    """The parameters between so many ranks."""
    levels = max(1, math.ceil(math.log(ranks, GROUP) - 1e-9))
    more = NETWORK["latency"] if ranks > OF_HOST else 0.0
    folds = {key: levels * (p[key] + more) for key in ("fold", "device_fold")}
    byte = max(p["byte"], 1e-6 / NETWORK["gbytes"]) if ranks > OF_HOST else p["byte"]
    return dict(p, latency=p["latency"] + more, byte=byte, **folds)


def product(p, alone, halo, columns):
    """halo: (rows received, neighbours, share of the rows at the ends)."""
    rows, neighbours, ends = halo
    size = 8 * rows * columns
    messages = p["latency"] + (neighbours - 1) * p["launch"] + size * p["byte"]
    packing = p["pack"] + size * p["pack_byte"]
    before, beside = (0.0, packing + messages) if p["packs_beside"] else (packing, messages)
    return before + max(alone * (1 - ends), beside) + alone * ends + 2 * p["launch"]


def product_alone(results, one, columns):
    """Milliseconds of a product of one rank with so many columns, between those measured."""
    known = sorted((case["columns"], median(with_id(case, "alone")))
                   for case in of_kind(results, "products") if case["one"] == one)
    below = max((point for point in known if point[0] <= columns), default=known[0])
    above = min((point for point in known if point[0] >= columns), default=known[-1])
    if above[0] == below[0]:
        return below[1]
    return below[1] + (above[1] - below[1]) * (columns - below[0]) / (above[0] - below[0])


def expected(results, p, case, halo):
    """Milliseconds of a case, a product or an iteration."""
    alone = median(with_id(case, "alone"))
    if "products" not in case:
        return product(p, alone, halo, case["columns"])
    one = product_alone(results, case["one"], case["width"])
    longer = product(p, one, halo, case["width"]) - one
    fold = p["device_fold" if case["folds_on_device"] else "fold"]
    return alone + case["products"] * longer + case["folds"] * fold


def factors(number):
    """Three, as equal as they get."""
    triples = ((a, b, number // a // b) for a in range(1, number + 1) if number % a == 0
               for b in range(1, number // a + 1) if number // a % b == 0)
    return min(triples, key=max)


def brick(spec, ranks):
    """The halo of the largest of bricks that each are the grid or the mesh of `spec`."""
    name, size = spec.split(":")[:2]
    sizes = [int(n) for n in size.split("x")]
    edges = sizes if len(sizes) == 3 else 3 * sizes
    sides = [min(2, parts - 1) for parts in factors(ranks)]
    whole = math.prod(edges)
    unknowns = 3 if name.startswith("elasticity") else 1
    if name == "laplace7":
        halo = sum(side * whole // edge for side, edge in zip(sides, edges))
        neighbours = sum(sides)
    else:
        halo = math.prod(edge + side for edge, side in zip(edges, sides)) - whole
        neighbours = math.prod(1 + side for side in sides) - 1
    inner = math.prod(max(edge - side, 0) for edge, side in zip(edges, sides))
    return unknowns * halo, neighbours, 1 - inner / whole


def named(case):
    return [f"`{case['one']}`", case.get("method", "product"), case["columns"]]


def parameter_lines(p):
    def speed(byte):
        return f" and {1e-6 / byte:.1f} GB/s" if byte > 0 else ""
    return listing([
        f"Between two kernels: {1000 * p['launch']:.2f} us.",
        f"Packing: {1000 * p['pack']:.1f} us{speed(p['pack_byte'])} of what is received.",
        f"Messages, without packing: {1000 * p['latency']:.1f} us{speed(p['byte'])}.",
        f"A sum over ranks on the host (Gram matrices): {1000 * p['fold']:.1f} us; of norms and dots,"
        f" on devices where they have a transport: {1000 * p['device_fold']:.1f} us."])


def check_rows(results, p, cases):
    rows = []
    for case in cases:
        ends = case["end_rows"] * results["ranks"] / case["rows"]
        time = expected(results, p, case, (case["halo_rows"], case["neighbours"], ends))
        measured = median(with_id(case, "auto"))
        rows.append([*named(case), ms(measured), ms(time), ratio(time, measured)])
    return rows


def more_ranks(results, p, cases):
    rows = []
    for case in cases:
        alone = median(with_id(case, "alone"))
        times = [expected(results, over_network(p, ranks), case, brick(case["one"], ranks))
                 for ranks in RANKS]
        rows.append([*named(case), ms(alone), *(f"{alone / time:.2f}" for time in times)])
    head = ["rows of a rank", "what", "n", "alone", *(f"{ranks} GPUs" for ranks in RANKS)]
    return [
        "### More GPUs, by the model", "",
        "Weak scaling: efficiency, the time of one GPU over that of all. Not measured. It assumes:", "",
        *listing([
            "bricks, each the grid or mesh in the first column; the largest has a halo on up to six"
            " sides, and its rows at the ends take as long as others;",
            f"up to {OF_HOST} GPUs the latency and bandwidth above, whatever the neighbours; beyond,"
            f" every message by a network of {NETWORK['gbytes']} GB/s each way a GPU and"
            f" {1000 * NETWORK['latency']:.0f} us more;",
            "the messages of a rank in one group: a neighbour more costs the time between two kernels;",
            f"sums gathered in groups of {GROUP} ranks, level by level;",
            "equal GPUs, all as fast as the one measured: no jitter, no other traffic."]),
        *table(head, rows)]


def sections(results):
    if results.get("study") != "ranks":
        return []
    p = parameters(results)
    if not p:
        return ["## Model", "", "Nothing was exchanged: no parameters.", ""]
    cases = of_kind(results, "products") + of_kind(results, "solvers")
    first = "max(interior, pack + messages)" if p["packs_beside"] else "pack + max(interior, messages)"
    lines = [
        "## Model", "", "Its parameters, fitted to the measurements of this run:", "",
        *parameter_lines(p),
        f"A product: {first} + ends. An iteration: that of one rank, what its products take longer, and"
        " its sums over ranks. It is worth what it gives for the ranks that were measured:", "",
        *table(["rows of a rank", "what", "n", "measured", "model", "model / measured"],
               check_rows(results, p, cases))]
    return lines + (more_ranks(results, p, cases) if results["backend"] == "cuda" else [])
