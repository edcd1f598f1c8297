"""viewing: films and pictures of episodes and experiments, and a live view of worlds in a browser."""
