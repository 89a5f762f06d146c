"""Blockspan under the names and signatures of other libraries."""
