"""What the text metrics share: tokens, n-grams, normalisation."""
