"""The archive of runs: its contents, safe reading, and comparing what it says with what comes out again."""
