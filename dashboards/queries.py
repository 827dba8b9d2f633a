# SPDX-License-Identifier: MIT
"""The PromQL that panels have in common.

A histogram is stored either as classic buckets (NAME_bucket, with a label `le`) or as one native
series (NAME, without). The variable $histograms is a pattern for `le`: `.+` takes the buckets, `()`,
which matches only the empty text, the native series. Grouping by `le` does no harm to the latter.
Histograms of messages have bounds of their own, 1-2-5, and are classic everywhere.
"""

PROCESS = 'instance=~"$instance",process=~"$process"'
DISPATCHER = PROCESS + ',dispatcher=~"$dispatcher"'
CLASS = PROCESS + ',class=~"$class"'
ACTORS = DISPATCHER + ',class=~"$class"'

TARGET = "instance, process"
BY_DISPATCHER = TARGET + ", dispatcher"
BY_CLASS = TARGET + ", class"
BY_LOOP = TARGET + ", loop"


def rate(name, where=PROCESS):
    return f"rate({name}{{{where}}}[$__rate_interval])"


def total(name, by, where=PROCESS):
    """A counter's rate, added up."""
    return f"sum by ({by}) ({rate(name, where)})"


def buckets(name, by, where=PROCESS):
    """What histogram_quantile and heat maps take, from either kind of histogram."""
    if not name.endswith("_seconds"):
        return f"sum by ({by}) ({rate(name + '_bucket', where)})"
    both = f'__name__=~"{name}|{name}_bucket",le=~"$histograms",{where}'
    return f"sum by ({by}) (rate({{{both}}}[$__rate_interval]))"


def quantile(q, name, by, where=PROCESS):
    return f"histogram_quantile({q}, {buckets(name, 'le, ' + by, where)})"


def heat(name, where=PROCESS):
    return buckets(name, "le", where)


def count(name, by, where=PROCESS):
    """Values per second of a histogram of either kind."""
    return (f"sum by ({by}) ({rate(name + '_count', where)}) or "
            f"sum by ({by}) (histogram_count({rate(name, where)}))")


def added(name, by, where=PROCESS):
    """Their sum per second; of times, seconds per second."""
    return (f"sum by ({by}) ({rate(name + '_sum', where)}) or "
            f"sum by ({by}) (histogram_sum({rate(name, where)}))")
