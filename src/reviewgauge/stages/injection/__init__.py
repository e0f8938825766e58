"""What stages share that put a defect into a change: its code as commits, and the cases of a pair."""
