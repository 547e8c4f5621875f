"""Digits, trained in Flower with PyTorch."""
