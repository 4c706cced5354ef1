"""A filter for OpusFilter that judges pairs by a model of `phsic learn`.

    steps:
      - type: filter
        parameters:
          inputs: [corpus.de, corpus.en]
          outputs: [kept.de, kept.en]
          filters:
            - PhsicFilter: {model: de-en.phsic, threshold: 0.3}
              module: phsic_filter

The score of a pair is its percentile among the pairs that the model was learned from, 0 for what
the rules reject. One `phsic filter --score-only` serves each chunk of pairs: a model file has no
memory, so chunks and processes may be cut as one likes.
"""

import itertools
import subprocess

from opusfilter import CLEAN_HIGH, FilterABC

CHUNK = 10000


def _field(text):
    """A text as one field of a table."""
    return " ".join(text.split("\t")).replace("\n", " ").replace("\r", " ")


class PhsicFilter(FilterABC):
    """Percentiles of pairs under a model of phsic."""

    score_direction = CLEAN_HIGH
    accept_threshold = 0
    reject_threshold = 1 + 10**-6

    def __init__(self, model, threshold=0.3, rules="default", command="phsic", **kwargs):
        super().__init__(**kwargs)
        self.threshold = threshold
        self._command = [command, "filter", "--model", str(model), "--rules", rules, "--score-only",
                         "--format", "tsv"]

    def _percentiles(self, pairs):
        table = "".join(f"{_field(x)}\t{_field(y)}\n" for x, y in pairs)
        done = subprocess.run(self._command, input=table.encode(), stdout=subprocess.PIPE,
                              check=True)
        found = [float(line) for line in done.stdout.split()]
        if len(found) != len(pairs):
            raise RuntimeError(f"phsic gave {len(found)} numbers for {len(pairs)} pairs")
        return found

    def score(self, pairs):
        pairs = iter(pairs)
        while chunk := list(itertools.islice(pairs, CHUNK)):
            yield from self._percentiles(chunk)

    def accept(self, score):
        return score >= self.threshold
