#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the dashboards as Grafana imports them.

   generate.py           writes dashboards/grafana/*.json
   generate.py --check   says whether they are what it would write
"""
import json
import os
import sys

sys.dont_write_bytecode = True

import actors
import dispatcher
import observer
import overview

HERE = os.path.dirname(os.path.abspath(__file__))
BOARDS = (overview, dispatcher, actors, observer)


def main():
    stale = []
    for module in BOARDS:
        file = os.path.join(HERE, "grafana", module.__name__ + ".json")
        text = json.dumps(module.board(), indent=2) + "\n"
        if sys.argv[1:] == ["--check"]:
            if not os.path.exists(file) or open(file, encoding="utf-8").read() != text:
                stale.append(file)
        else:
            with open(file, "w", encoding="utf-8") as out:
                out.write(text)
    if stale:
        sys.exit(f"run dashboards/generate.py: {', '.join(stale)} is not what it writes")


if __name__ == "__main__":
    main()
