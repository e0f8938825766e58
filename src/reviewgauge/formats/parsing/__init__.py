"""What the formats share: reading documents, collecting comments, detecting the format."""
