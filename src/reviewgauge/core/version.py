"""The version of ReviewGauge, as manifests and bundles name it."""

__version__ = "0.1.0"
