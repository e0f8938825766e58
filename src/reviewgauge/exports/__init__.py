"""What other tools read: one file a neighbour. `docs/guides/exchange.md` says what goes over."""
