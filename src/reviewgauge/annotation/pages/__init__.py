"""The web service: what each person may see, as pages rendered on the server, and the protection around them."""
