"""What the formats share: fields, prose, detection, and comments made of them."""
