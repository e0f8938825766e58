"""Whatever generates, embeds or retrieves: today, lexical similarity between two texts."""
