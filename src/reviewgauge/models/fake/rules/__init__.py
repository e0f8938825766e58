"""The rules of the fake model, grouped by what their prompts show; `table` lists them by task."""
