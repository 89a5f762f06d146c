"""Linear systems for conjugate gradients and their judge (perf/robustness_systems.py): needs NumPy
and SciPy."""
