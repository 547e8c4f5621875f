"""Digits, trained privately in Flower."""
