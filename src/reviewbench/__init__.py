"""ReviewBench: how good is this code reviewer, on these changes?"""

__version__ = "0.1.0"
