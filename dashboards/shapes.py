# SPDX-License-Identifier: MIT
"""How Grafana wants dashboards, panels and variables written down; nothing of what they show."""

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH = 24
GREEN, ORANGE, RED = "green", "orange", "red"


def limits(*steps):
    """Green, and from these values on orange and red, or red alone."""
    colors = [ORANGE, RED][-len(steps):] if steps else []
    return {"mode": "absolute", "steps": [{"color": GREEN, "value": None}] + [
        {"color": c, "value": v} for c, v in zip(colors, steps)]}


def targets(queries, form, instant):
    return [{"datasource": SOURCE, "editorMode": "code", "expr": expr, "format": form,
             "instant": instant, "legendFormat": legend, "range": not instant,
             "refId": chr(ord("A") + i)} for i, (legend, expr) in enumerate(queries)]


def panel(kind, title, text, advice, queries, unit, *, width, height=8, options, custom=None,
          steps=None, form="time_series", instant=False, decimals=None, to=None):
    """`advice` is what to do when the panel looks bad."""
    defaults = {"color": {"mode": "thresholds" if kind == "stat" else "palette-classic"},
                "custom": custom or {}, "mappings": [], "unit": unit,
                "thresholds": steps or limits()}
    if kind != "heatmap":
        defaults["min"] = 0
    if decimals is not None:
        defaults["decimals"] = decimals
    if to:
        defaults["links"] = [to]
    return {"type": kind, "title": title, "description": f"{text}\n\nWhen it looks bad: {advice}",
            "datasource": SOURCE, "fieldConfig": {"defaults": defaults, "overrides": []},
            "gridPos": {"h": height, "w": width, "x": 0, "y": 0}, "options": options,
            "targets": targets(queries, form, instant)}


def lines(title, text, advice, queries, unit, *, width=12, log=False, stack=False, steps=None,
          to=None):
    """Time series; `log` where values lie between microseconds and seconds."""
    scale = {"type": "log", "log": 10} if log else {"type": "linear"}
    custom = {"drawStyle": "line", "fillOpacity": 30 if stack else 8, "lineWidth": 1,
              "scaleDistribution": scale, "showPoints": "auto", "spanNulls": False,
              "stacking": {"group": "A", "mode": "normal" if stack else "none"},
              "thresholdsStyle": {"mode": "dashed" if steps else "off"}}
    options = {"legend": {"calcs": ["lastNotNull", "max"], "displayMode": "table",
                          "placement": "bottom", "showLegend": True, "sortBy": "Max",
                          "sortDesc": True},
               "tooltip": {"mode": "multi", "sort": "desc"}}
    made = panel("timeseries", title, text, advice, queries, unit, width=width, options=options,
                 custom=custom, steps=steps, to=to)
    if log:
        del made["fieldConfig"]["defaults"]["min"]  # a logarithm has no 0
    return made


def number(title, text, advice, query, unit, *, steps=None, width=4, decimals=None, to=None):
    options = {"colorMode": "value", "graphMode": "area", "justifyMode": "auto",
               "orientation": "auto", "textMode": "auto", "wideLayout": True,
               "percentChangeColorMode": "standard", "showPercentChange": False,
               "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}}
    return panel("stat", title, text, advice, [("", query)], unit, width=width, height=4,
                 options=options, steps=steps, decimals=decimals, to=to)


def heatmap(title, text, advice, query, unit, *, width=12):
    options = {"calculate": False, "cellGap": 1, "cellValues": {"unit": "short"},
               "color": {"exponent": 0.5, "fill": "dark-orange", "mode": "scheme",
                         "reverse": False, "scale": "exponential", "scheme": "Oranges",
                         "steps": 64},
               "exemplars": {"color": "rgba(255,0,255,0.7)"}, "filterValues": {"le": 1e-9},
               "legend": {"show": True}, "rowsFrame": {"layout": "auto"}, "showValue": "never",
               "tooltip": {"mode": "single", "showColorScale": True, "yHistogram": True},
               "yAxis": {"axisPlacement": "left", "reverse": False, "unit": unit}}
    custom = {"hideFrom": {"legend": False, "tooltip": False, "viz": False},
              "scaleDistribution": {"type": "linear"}}
    return panel("heatmap", title, text, advice, [("{{le}}", query)], unit, width=width,
                 options=options, custom=custom, form="heatmap")


def table(title, text, advice, query, unit, *, width=12, height=8):
    options = {"cellHeight": "sm", "showHeader": True, "sortBy": [{"desc": True, "displayName":
                                                                    "Value"}],
               "footer": {"countRows": False, "reducer": ["sum"], "show": False}}
    custom = {"align": "auto", "cellOptions": {"type": "auto"}, "inspect": False}
    made = panel("table", title, text, advice, [("", query)], unit, width=width, height=height,
                 options=options, custom=custom, form="table", instant=True)
    made["transformations"] = [{"id": "organize", "options": {
        "excludeByName": {"Time": True, "__name__": True, "job": True}, "indexByName": {},
        "renameByName": {}}}]
    return made


def words(title, text, advice, content, *, width=24, height=9):
    made = panel("text", title, text, advice, [], "none", width=width, height=height,
                 options={"code": {"language": "plaintext", "showLineNumbers": False,
                                   "showMiniMap": False}, "content": content,
                          "mode": "markdown"})
    del made["fieldConfig"], made["targets"], made["datasource"]
    return made


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "panels": [],
            "gridPos": {"h": 1, "w": WIDTH, "x": 0, "y": 0}}


def place(panels):
    """Left to right, then down, as wide as each wants to be; ids in the same order."""
    x = y = height = 0
    for i, p in enumerate(panels):
        at = p["gridPos"]
        if x + at["w"] > WIDTH:
            x, y, height = 0, y + height, 0
        at["x"], at["y"] = x, y
        x, height = x + at["w"], max(height, at["h"])
        p["id"] = i + 1
    return panels


# ---- variables ----

def choice_of_source():
    return {"type": "datasource", "name": "datasource", "label": "Prometheus",
            "description": "The Prometheus that scrapes actorprobe.", "query": "prometheus",
            "regex": "", "options": [], "multi": False, "includeAll": False,
            "refresh": 1, "hide": 0, "skipUrlSync": False}


def choice_of_histograms():
    kinds = [("classic", ".+"), ("native", "()")]
    options = [{"selected": i == 0, "text": text, "value": value}
               for i, (text, value) in enumerate(kinds)]
    return {"type": "custom", "name": "histograms", "label": "Histograms",
            "description": "native: for a Prometheus that stores native histograms. The value is "
                           "a pattern for the label le.",
            "query": ",".join(f"{text} : {value}" for text, value in kinds), "options": options,
            "current": {"selected": True, "text": "classic", "value": ".+"}, "multi": False,
            "includeAll": False, "hide": 0, "skipUrlSync": False}


def choice(name, label, query, text):
    """Several values of a label; all of them stands for `.*`, which also fits where it is not."""
    return {"type": "query", "name": name, "label": label, "description": text,
            "datasource": SOURCE,
            "query": {"qryType": 1, "query": query, "refId": "PrometheusVariableQueryEditor"},
            "regex": "", "refresh": 2, "sort": 1, "multi": True, "includeAll": True,
            "allValue": ".*", "options": [], "hide": 0, "skipUrlSync": False,
            "current": {"selected": True, "text": ["All"], "value": ["$__all"]}}


# ---- dashboards ----

def link_to_all():
    return {"type": "dashboards", "title": "actorprobe", "tags": ["actorprobe"],
            "asDropdown": False, "icon": "external link", "includeVars": True, "keepTime": True,
            "targetBlank": False, "tooltip": "The other dashboards of actorprobe", "url": ""}


def link(title, uid, label):
    """From a line of a panel to another dashboard, with what the line is of."""
    return {"title": title, "targetBlank": False,
            "url": f"/d/{uid}?${{__url_time_range}}&${{datasource:queryparam}}&"
                   f"${{histograms:queryparam}}&var-instance=${{__field.labels.instance}}&"
                   f"var-{label}=${{__field.labels.{label}}}"}


def dashboard(uid, title, text, variables, panels):
    builtin = {"builtIn": 1, "datasource": {"type": "grafana", "uid": "-- Grafana --"},
               "enable": True, "hide": True, "iconColor": "rgba(0, 211, 255, 1)",
               "name": "Annotations & Alerts", "type": "dashboard"}
    return {"annotations": {"list": [builtin]}, "description": text, "editable": True,
            "fiscalYearStartMonth": 0, "graphTooltip": 1, "id": None, "links": [link_to_all()],
            "panels": place(panels), "refresh": "10s", "schemaVersion": 39,
            "tags": ["actorprobe"], "templating": {"list": variables},
            "time": {"from": "now-15m", "to": "now"}, "timepicker": {}, "timezone": "browser",
            "title": title, "uid": uid, "version": 1, "weekStart": ""}
