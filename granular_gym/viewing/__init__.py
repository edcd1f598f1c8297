"""viewing: what people see: episodes and experiments as films and pictures, worlds live in a browser."""
