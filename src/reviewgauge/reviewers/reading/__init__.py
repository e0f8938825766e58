"""What several reviewers share: a change and its code as text, answers, files of reviews, examples, programs."""
