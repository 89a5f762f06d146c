"""Pages of the judged solves of robustness.py (pairs) and robustness_systems.py (systems)."""

from pages.claims import pairs, systems

__all__ = ["pairs", "systems"]
