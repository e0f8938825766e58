"""Tables and sentences for the terminal, and the number formats that all views share."""
