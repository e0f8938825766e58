"""`fake:rules` and its kin, toy models that answer our prompts by simple rules, so that figures are known."""
