"""An app whose server and clients do what they must not."""
