"""Private evaluation and statistics: what clients hold, with error bars.

A question says what a client answers about its own data: an accuracy, a loss, a confusion matrix,
or how a number is spread. Each answer is one report of an ordinary :class:`hushgrad.Round`, which
a policy accepts and a ledger pays for. Start with :func:`ask`::

    from hushgrad import Policy, Round
    from hushgrad.evaluation import Metrics, ask

    question = Metrics({"accuracy": (0, 1)})
    survey = ask(question, clients=10_000, budget=1)
    server = survey.round("accuracy")

    client = Round(server.description, Policy(max_epsilon=1))  # somewhere else
    report = client.encode(question.answer({"accuracy": predicted == labels}))

    counts = server.aggregator()
    counts.add(report)  # one report of each client
    survey.read(counts.estimate())["accuracy"]  # value, std_err, low, high

In a round with ``records`` a client answers by ``client.encode_records(question.records(...))``:
each record by itself. :func:`describe` asks for a number's mean, quantiles and histogram, and
:func:`clients_for` says how many clients an interval takes.
"""

from .cells import Column, Confusion, Scores
from .describe import Description, describe
from .measure import Measure
from .question import Metrics, Question
from .survey import Survey, ask, clients_for

__all__ = [
    "Column",
    "Confusion",
    "Description",
    "Measure",
    "Metrics",
    "Question",
    "Scores",
    "Survey",
    "ask",
    "clients_for",
    "describe",
]
