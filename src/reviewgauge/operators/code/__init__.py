"""What operators share: what they see of a file, what they propose, and the node types of each language by role."""
