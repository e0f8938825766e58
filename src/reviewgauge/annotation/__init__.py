"""People judge: schemas of questions, the store of slots and judgements, the pages, and labels in and out."""
