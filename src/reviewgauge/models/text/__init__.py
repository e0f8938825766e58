"""Words, stems, TF-IDF: similarity of texts without a model."""
