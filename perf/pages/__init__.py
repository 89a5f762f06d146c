"""How perf/report.py makes pages of what blockspan-perf measured."""
