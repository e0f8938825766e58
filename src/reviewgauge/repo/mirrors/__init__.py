"""Bare copies and the workspaces made from them, which hold nothing later than head."""
