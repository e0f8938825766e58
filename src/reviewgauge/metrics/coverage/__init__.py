"""What coverage of claims needs: the sentences of a review, and how alike they and claims are."""
