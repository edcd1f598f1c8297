"""Descriptions of robot arms, and the files they are read from."""
