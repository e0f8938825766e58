"""Above which similarity a sentence of a review speaks about a claim: the threshold of CRScore, for any model."""
