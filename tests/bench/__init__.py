"""Figures of this machine: `make bench`. Only ratios within one run mean anything."""
