"""The sections of the study `cases`: the laboratory's rows, speed-ups, the plan's choice, the rule of
Yang, Buluc and Owens, where cuSPARSE is ahead, what a plan costs."""

from pages.results import auto, fastest, geometric_mean, groups, kernels, median
from pages.text import listing, ms, name, ratio, short, table

MISSING = 0.1  # the speed-up that a case without a right result of Blockspan's counts as
TOLERATED = 1.10  # what the plan's choice may cost over the best variant
RULE = 9.35  # nonzeros a row: Yang, Buluc, Owens 2018
PEERS = {"cusparse": "cuSPARSE", "kokkos-kernels": "Kokkos Kernels"}


def laboratory(cases):
    head = ["matrix", "type", "n", "floor", "auto", "it ran", "best variant", "which", "cuSPARSE",
            "which", "Kokkos Kernels", "which", "prototype", "auto / floor", "auto / prototype",
            "cuSPARSE / auto", "Kokkos Kernels / auto"]
    rows = []
    for case in cases:
        own, best = auto(case), fastest(kernels(case, "blockspan"))
        peer, other = (fastest(kernels(case, family)) for family in PEERS)
        lab = case.get("laboratory", {})
        window = " (windows)" if lab.get("window") else ""
        time = median(own)
        rows.append([
            f"`{case['matrix']}`", case["scalar"], case["columns"], ms(case.get("floor_ms")),
            ms(time), own.get("ran", "-") if own else "-", ms(median(best)), short(best),
            ms(median(peer)), short(peer), ms(median(other)), short(other),
            ms(lab.get("prototype")) + window, ratio(time, case.get("floor_ms")),
            ratio(time, lab.get("prototype")), ratio(median(peer), time), ratio(median(other), time),
        ])
    return table(head, rows)


def laboratory_section(results):
    cases = [case for case in results["cases"] if case["group"] == "laboratory"]
    if not cases:
        return []
    return [
        "## The laboratory's rows",
        "",
        "Prototype: the fastest kernel of the raw CUDA laboratory on an H200, a ceiling measured in",
        "another run; (windows): a kernel of tensor-core windows.",
        "",
        *laboratory(cases),
    ]


def speed_up(case, family):
    """Over the best kernel of a peer; None where the peer has no right result to compare with."""
    own, peer = median(auto(case)), median(fastest(kernels(case, family)))
    if not own:
        return MISSING
    return peer / own if peer else None


def speed_ups(results):
    rows = []
    took_part = {k["family"] for case in results["cases"] for k in case.get("kernels", [])}
    for group in [*groups(results["cases"]), None]:
        cases = [case for case in results["cases"] if group in (None, case["group"])]
        for family, peer in PEERS.items():
            if family not in took_part:
                continue
            known = [(speed_up(case, family), case) for case in cases]
            known = [entry for entry in known if entry[0] is not None]
            if not known:
                continue
            worst = min(known, key=lambda entry: entry[0])
            rows.append([
                group or "all", peer, len(known), len(cases) - len(known),
                f"{geometric_mean([entry[0] for entry in known]):.2f}", f"{worst[0]:.2f}",
                name(worst[1]),
            ])
    head = ["group", "over the best of", "cases", "without a peer", "geometric mean", "worst", "where"]
    return [
        "## Speed-up over the best peer",
        "",
        f"Of `auto` over the peer's fastest right kernel, any order, algorithm and preprocessing. A",
        f"case that is missing, failed or wrong counts as {MISSING}.",
        "",
        *table(head, rows),
    ]


def costs(cases):
    """(auto over the best variant, case) where both are known."""
    pairs = ((median(auto(c)), median(fastest(kernels(c, "blockspan"))), c) for c in cases)
    return [(own / best, case) for own, best, case in pairs if own and best]


def oracle(results):
    rows, slow = [], []
    for group in [*groups(results["cases"]), None]:
        known = costs([case for case in results["cases"] if group in (None, case["group"])])
        if not known:
            continue
        worst = max(known, key=lambda entry: entry[0])
        mean = geometric_mean([cost for cost, _ in known])
        rows.append([group or "all", len(known), f"{mean:.3f}", f"{worst[0]:.2f}", name(worst[1])])
    for cost, case in sorted(costs(results["cases"]), key=lambda entry: -entry[0]):
        if cost > TOLERATED:
            best = fastest(kernels(case, "blockspan"))
            slow.append([name(case), auto(case)["ran"], ms(median(auto(case))), short(best),
                         ms(median(best)), f"{cost:.2f}"])
    return [
        "## The plan's choice against the best of the menu",
        "",
        "Time of `auto` over that of the fastest variant, each measured by itself.",
        "",
        *table(["group", "cases", "geometric mean", "worst", "where"], rows),
        f"Cases above {TOLERATED:.2f}: {len(slow)}.",
        "",
        *(table(["case", "auto ran", "ms", "best", "ms", "cost"], slow) if slow else []),
    ]


def rule_section(results):
    pair_agrees, pairs, family_agrees, families = 0, 0, 0, 0
    for case in results["cases"]:
        menu = kernels(case, "blockspan")
        best = fastest(menu)
        if not best:
            continue
        cuts = case["mean"] < RULE  # the rule says merge
        families += 1
        family_agrees += best.get("whole_rows", False) != cuts
        split = next((k for k in menu if k["id"] == "row_split"), None)
        merge = next((k for k in menu if k["id"].startswith("merge")), None)
        if median(split) and median(merge):
            pairs += 1
            pair_agrees += (median(merge) < median(split)) == cuts
    both = (f"Of `row_split` and `merge` it names the faster in {pair_agrees} of {pairs} cases."
            if pairs else "No case has times of both `row_split` and `merge`.")
    return [
        f"## The rule of {RULE} nonzeros a row",
        "",
        f"Yang, Buluc, Owens 2018 take merge below {RULE} nonzeros a row and row split above.",
        both,
        "Of the whole menu, taking whole rows for row split and cut or listed rows for merge, it",
        f"names the family of the fastest variant in {family_agrees} of {families} cases.",
        "",
    ]


def behind_section(results):
    behind, columns, compared = [], [], 0
    for case in results["cases"]:
        own, best = median(auto(case)), fastest(kernels(case, "cusparse"))
        if not own or not best:
            continue
        compared += 1
        line = f"{name(case)}: {ms(own)} ({auto(case)['ran']}), {short(best)} {ms(median(best))}"
        if own - median(best) > 0.002:
            behind.append(line)
        if case["columns"] == 1 and own > 1.05 * median(best):
            columns.append(f"{line}: {ratio(own, median(best))}")
    return [
        "## Behind cuSPARSE",
        "",
        f"Cases with times of both: {compared}. By more than 2 microseconds:",
        "",
        *listing(behind),
        "One column, slower than 1.05 times cuSPARSE's best:",
        "",
        *listing(columns),
    ]


def setup_section(results):
    rows = []
    for group in groups(results["cases"]):
        known = [(auto(case)["setup_products"], auto(case)["setup_ms"], case)
                 for case in results["cases"]
                 if case["group"] == group and auto(case) and "setup_products" in auto(case)]
        if not known:
            continue
        known.sort(key=lambda entry: entry[0])
        middle, most = known[len(known) // 2], known[-1]
        rows.append([group, len(known), f"{middle[0]:.1f}", f"{most[0]:.1f}", f"{most[1]:.3f}",
                     name(most[2])])
    return [
        "## What a plan costs, in products",
        "",
        *table(["group", "cases", "median", "most", "its ms", "where"], rows),
    ]


SECTIONS = (laboratory_section, speed_ups, oracle, rule_section, behind_section, setup_section)
