# SPDX-License-Identifier: MIT
"""What the checks of dashboards and rules know in common: files, metrics, panels, variables."""
import glob
import json
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Of Prometheus itself; dashboards may use them.
FOREIGN = {"up", "scrape_duration_seconds", "scrape_samples_scraped", "ALERTS"}
SUFFIXES = ("_bucket", "_count", "_sum")


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def metric_table():
    """name -> (type, labels, unit), from the exporter's own table."""
    rows = re.findall(r'^\t(HISTOGRAM|COUNTER|GAUGE)\(\s*"(\w+)",(.*?)\),$', read("probe/metric.c"),
                      re.M | re.S)
    table = {}
    for kind, name, rest in rows:
        strings = re.findall(r'"([^"]*)"', rest)
        labels, unit = strings[1:3] if kind == "HISTOGRAM" else strings[:2]
        table[name] = (kind.lower(), [label for label in labels.split(",") if label], unit)
    return table


def dashboards():
    files = sorted(glob.glob(os.path.join(ROOT, "dashboards/grafana/*.json")))
    return {os.path.basename(f): json.loads(read(f)) for f in files}


def panels(board):
    """All but rows, those inside of rows too."""
    for panel in board["panels"]:
        if panel["type"] != "row":
            yield panel
        yield from (inner for inner in panel.get("panels", []) if inner["type"] != "row")


def expressions(board):
    """(where, expression) of each target and each variable that asks something."""
    for panel in panels(board):
        for target in panel.get("targets", []):
            yield f"panel '{panel['title']}' {target['refId']}", target["expr"]
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            yield f"variable '{variable['name']}'", variable["query"]["query"]


def classic_only(name, table):
    """Histograms of messages have no bounds that a native histogram could have."""
    return table[name][0] == "histogram" and table[name][2] != "seconds"


def metrics_in(expression):
    """Words that are metrics by their prefix, patterns of __name__ included; records are not."""
    words = re.findall(r"(?<![\w:$])(actor(?:probe)?_\w+)(?![\w:])", expression)
    return set(words)


def family(word, table):
    """The family that a series belongs to, None if there is none."""
    if word in table:
        return word
    for suffix in SUFFIXES:
        base = word[:-len(suffix)]
        if word.endswith(suffix) and table.get(base, ("",))[0] == "histogram":
            return base
    return None


def rules():
    """Rules of rules.yml as dicts of their plain fields, annotations and labels included."""
    found = []
    key = None
    for line in read("dashboards/rules.yml").splitlines():
        start = re.match(r"      - (alert|record): (\S+)$", line)
        field = re.match(r"        (?:  )?(\w+):(?: (.*))?$", line)
        if start:
            found.append({start[1]: start[2]})
        elif field and found:
            key = field[1]
            found[-1][key] = "" if field[2] in (">-", None) else field[2]
        elif found and key and line.startswith("          ") and not line.strip().startswith("#"):
            found[-1][key] = (found[-1][key] + " " + line.strip()).strip()
    return found
