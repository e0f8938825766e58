"""Whatever generates, embeds or retrieves: lexical similarity between two texts, and embedding models."""
