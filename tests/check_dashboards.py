#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds dashboards, rules, README and manual page to what Grafana takes by hand and by provisioning,
to the exporter's table of metrics, and to the knobs that there are. Prints what is wrong."""
import copy
import re
import sys

sys.dont_write_bytecode = True

import boards

ADVICE = "When it looks bad: "
UNITS = {"s", "short", "none", "percentunit", "bytes"}
COMMON = {"instance", "process", "job", "le", "__name__"}


def check_source(where, source, complain):
    if source != {"type": "prometheus", "uid": "${datasource}"}:
        complain(f"{where} does not ask the variable datasource")


def check_kinds(where, expr, table, complain):
    """Buckets are of the kind that the variable says, if there are two."""
    for name in re.findall(r"(\w+)_bucket\b", expr):
        chosen = re.findall(rf'__name__=~"{name}\|{name}_bucket",le=~"\$histograms"', expr)
        if name not in table:
            continue
        if boards.classic_only(name, table) == bool(chosen):
            complain(f"{where} asks for {name} in one kind of histogram only")
    if expr.count("histogram_quantile(") > len(re.findall(r"\w_bucket\b", expr)):
        complain(f"{where} has a quantile without buckets")


def check_query(where, expr, table, complain):
    for duration in re.findall(r"\[([^\]]*)\]", expr):
        if duration not in ("$__rate_interval", "$__range"):
            complain(f"{where} looks at [{duration}] instead of $__rate_interval")
    if re.search(r"\brate\([^()]*\[\$__range\]", expr):
        complain(f"{where} has a rate over $__range")
    if re.search(r'\ble=~?"(?!\$histograms")', expr):
        complain(f"{where} compares le")
    check_kinds(where, expr, table, complain)
    for word in sorted(boards.metrics_in(expr)):
        name = boards.family(word, table)
        if not name:
            complain(f"{where} uses {word}, which is no metric")
            continue
        if word != name and word.endswith(("_count", "_sum")) and not re.search(
                rf"histogram_(count|sum)\(rate\({name}\{{", expr):
            if "label_values" not in expr:
                complain(f"{where} uses {word} without the native histogram beside it")
        for inside in re.findall(rf"\b{word}\{{([^}}]*)\}}", expr):
            unknown = set(re.findall(r"(\w+)\s*(?:=|!=|=~|!~)\"", inside)) - COMMON - set(
                table[name][1])
            if unknown:
                complain(f"{where} asks {word} for labels that it has not: {sorted(unknown)}")


def check_panel(panel, table, complain):
    where = f"panel '{panel['title']}'"
    text, _, advice = panel.get("description", "").partition(ADVICE)
    if len(text.strip()) < 15 or len(advice.strip()) < 25:
        complain(f"{where} does not say what it shows and what to do when it looks bad")
    if panel["type"] == "text":
        return
    check_source(where, panel.get("datasource"), complain)
    if panel["fieldConfig"]["defaults"].get("unit") not in UNITS:
        complain(f"{where} has no unit")
    if not panel.get("targets"):
        complain(f"{where} asks nothing")
    for target in panel.get("targets", []):
        check_source(f"{where} {target['refId']}", target.get("datasource"), complain)
        if panel["type"] == "heatmap" and (
                target["format"] != "heatmap" or target["legendFormat"] != "{{le}}" or
                "_bucket" not in target["expr"]):
            complain(f"{where} is no heat map of buckets")
    for link in panel["fieldConfig"]["defaults"].get("links", []):
        check_link(where, link["url"], complain)


def check_link(where, url, complain):
    uid = re.match(r"/d/([\w-]+)", url)
    if not uid or uid[1] not in {b["uid"] for b in boards.dashboards().values()}:
        complain(f"{where} leads to {url}, which is not there")


def check_places(board, complain):
    taken = {}
    ids = [p["id"] for p in board["panels"]]
    if len(ids) != len(set(ids)):
        complain("two panels have one id")
    for panel in board["panels"]:
        at = panel["gridPos"]
        if at["x"] + at["w"] > 24:
            complain(f"panel '{panel['title']}' is wider than the page")
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                if taken.setdefault((x, y), panel["id"]) != panel["id"]:
                    complain(f"panel '{panel['title']}' lies on another one")
                    return


def keys_of(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def check_board(board, table, complain):
    for key in ("__inputs", "__requires", "__elements"):
        if key in set(keys_of(board)):
            complain(f"{key} has to be filled in by hand")
    if board.get("id", 0) is not None:
        complain("its id is not null")
    if not re.fullmatch(r"actorprobe-[a-z]+", board.get("uid", "")):
        complain("it has no fixed uid")
    variables = {v["name"]: v for v in board["templating"]["list"]}
    if variables.get("datasource", {}).get("type") != "datasource":
        complain("there is no variable datasource")
    if variables.get("histograms", {}).get("query") != "classic : .+,native : ()":
        complain("there is no variable histograms")
    for name, variable in variables.items():
        if variable["type"] == "query":
            check_source(f"variable '{name}'", variable.get("datasource"), complain)
    if not any(link["type"] == "dashboards" and link["tags"] == ["actorprobe"] and
               link["includeVars"] and link["keepTime"] for link in board["links"]):
        complain("it does not lead to the other dashboards")
    if "actorprobe" not in board["tags"]:
        complain("other dashboards do not find it")
    for panel in boards.panels(board):
        check_panel(panel, table, complain)
    for where, expr in boards.expressions(board):
        check_query(where, expr, table, complain)
        for used in re.findall(r"\$\{?(\w+)", expr):
            if used not in variables and not used.startswith("__"):
                complain(f"{where} uses ${used}, which is no variable")
    check_places(board, complain)


# ---- rules ----

def knob_known(word):
    """Whether the program, its configuration or actorprobe has this knob."""
    if word.startswith("--"):
        return f'"{word[2:].split()[0]}"' in boards.read("probe/option.c")
    if word.startswith("actorprobe "):
        return False
    keys = boards.read("runtime/configtree.c")
    if "." in word:
        return all(f'"{part}"' in keys for part in word.split(".") if part != "NAME")
    return bool(re.search(rf"^\s.*\b{word}\b.*;", boards.read("runtime/actor.h"), re.M))


def check_rule(rule, table, complain):
    name = rule.get("alert", rule.get("record"))
    for word in sorted(boards.metrics_in(rule["expr"])):
        if not boards.family(word, table):
            complain(f"rule {name} uses {word}, which is no metric")
    if "record" in rule:
        return
    for field in ("summary", "description", "runbook", "dashboard"):
        if len(rule.get(field, "")) < 10:
            complain(f"alert {name} has no {field}")
    if rule.get("severity") not in ("page", "ticket"):
        complain(f"alert {name} has no severity")
    check_link(f"alert {name}", rule.get("dashboard", ""), complain)
    knobs = [w for w in re.findall(r"`([^`]+)`", rule.get("runbook", ""))
             if not w.startswith("actorprobe ")]
    if not knobs:
        complain(f"the runbook of {name} names no knob")
    for knob in knobs:
        if not knob_known(knob):
            complain(f"the runbook of {name} names `{knob}`, which is no knob")
    if f'alertname="{name}"' not in boards.read("tests/rules_test.yml"):
        complain(f"no test sees {name} fire")


# ---- names, everywhere ----

def check_alerts_in_readme(rules, complain):
    readme = set(re.findall(r"`(Actor[A-Z]\w+)`", boards.read("README.md")))
    for name in sorted(readme ^ {rule["alert"] for rule in rules if "alert" in rule}):
        complain(f"rules and README disagree about the alert {name}")


def check_names(table, complain):
    used = set()
    for board in boards.dashboards().values():
        for _, expr in boards.expressions(board):
            used |= {boards.family(word, table) for word in boards.metrics_in(expr)}
    for name in sorted(set(table) - used):
        complain(f"no dashboard shows {name}")
    manual = set(re.findall(r"^(actor(?:probe)?_\w+) +(?:histogram|counter|gauge)",
                            boards.read("probe/actorprobe.1"), re.M))
    for name in sorted(manual ^ set(table)):
        complain(f"table and manual page disagree about {name}")
    readme = set(re.findall(r"`(actor(?:probe)?_\w+)`", boards.read("README.md")))
    for name in sorted(readme ^ set(table)):
        complain(f"table and README disagree about {name}")


# ---- the checks themselves ----

def spoilt():
    """Ways to spoil a dashboard, and a word of the complaint that each must cause."""
    def first(board, kind):
        return next(p for p in boards.panels(board) if p["type"] == kind)

    def expr(board, text):
        first(board, "timeseries")["targets"][0]["expr"] = text
    return [
        ("by hand", lambda b: b.update(__inputs=[])),
        ("not null", lambda b: b.update(id=7)),
        ("fixed uid", lambda b: b.pop("uid")),
        ("variable datasource", lambda b: b["templating"]["list"].pop(0)),
        ("variable histograms", lambda b: b["templating"]["list"].pop(1)),
        ("other dashboards", lambda b: b["links"].clear()),
        ("looks bad", lambda b: first(b, "timeseries").update(description="Some numbers.")),
        ("no unit", lambda b: first(b, "timeseries")["fieldConfig"]["defaults"].pop("unit")),
        ("does not ask", lambda b: first(b, "stat").update(datasource={"uid": "abc"})),
        ("lies on another", lambda b: b["panels"][1]["gridPos"].update(x=0, y=0)),
        ("[5m]", lambda b: expr(b, "rate(actorprobe_records_total[5m])")),
        ("no metric", lambda b: expr(b, "actorprobe_wishes")),
        ("labels that it has not", lambda b: expr(b, 'actor_mailbox_size{colour="red"}')),
        ("compares le", lambda b: expr(b, 'actor_turn_seconds_bucket{le="1"}')),
        ("one kind", lambda b: expr(b, "histogram_quantile(0.5, actor_turn_seconds_bucket)")),
        ("one kind", lambda b: expr(b, 'rate({__name__=~"actor_mailbox_depth|actor_mailbox_depth_'
                                       'bucket",le=~"$histograms"}[$__rate_interval])')),
        ("without buckets", lambda b: expr(b, "histogram_quantile(0.5, actor_turn_seconds)")),
        ("without the native", lambda b: expr(b, "rate(actor_turn_seconds_sum[$__rate_interval])")),
        ("no variable", lambda b: expr(b, 'actorprobe_attached{process="$who"}')),
    ]


def check_checks(table, complain):
    """A check that finds nothing in a spoilt dashboard is none."""
    board = boards.dashboards()["overview.json"]
    for word, spoil in spoilt():
        said = []
        victim = copy.deepcopy(board)
        spoil(victim)
        check_board(victim, table, said.append)
        if not any(word in text for text in said):
            complain(f"nobody complains: {word}; only {said}")


def main():
    said = []
    table = boards.metric_table()
    if len(table) < 30:
        said.append("found no table of metrics")
    all_boards = boards.dashboards()
    if set(all_boards) != {f"{n}.json" for n in ("overview", "dispatcher", "actors", "observer")}:
        said.append(f"the dashboards are {sorted(all_boards)}")
    uids = [b["uid"] for b in all_boards.values()]
    if len(set(uids)) != len(uids):
        said.append("two dashboards have one uid")
    for name, board in all_boards.items():
        check_board(board, table, lambda text, name=name: said.append(f"{name}: {text}"))
    rules = boards.rules()
    if len(rules) < 20:
        said.append("found no rules")
    for rule in rules:
        check_rule(rule, table, said.append)
    check_names(table, said.append)
    check_alerts_in_readme(rules, said.append)
    check_checks(table, said.append)
    print("\n".join(f"check_dashboards: {text}" for text in said) or
          f"check_dashboards: {len(all_boards)} dashboards, {len(rules)} rules, {len(table)} metrics")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
