"""Measurements of private training in Python.

Use it to see what privacy costs in accuracy, bytes and time on a machine of yours. It needs
``pip install hushgrad[bench]``. Start with this command::

    python -m hushgrad.bench flower --quick

It trains on the same clients in Flower's simulation: with hushgrad, with what Flower has for
privacy, and without privacy. :mod:`hushgrad.bench.digits` has the pictures and
:mod:`hushgrad.bench.softmax` the model, for experiments of your own.
"""
