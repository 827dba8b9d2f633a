#!/bin/sh
# SPDX-License-Identifier: MIT
# The dashboards are of the types that Grafana publishes for them (@grafana/schema, from npm): the
# whole, and the options of each panel by its kind.
set -eu
cd "$(dirname "$0")/.."
dir=$PWD/${B:-build}/grafana-types
skip() {
	echo "SKIP $*"
	exit 77
}

command -v npm >/dev/null || skip 'no npm: install the Debian packages nodejs and npm'
mkdir -p "$dir"
cat >"$dir/package.json" <<'END'
{"private": true, "dependencies": {"@grafana/schema": "11.6.0", "typescript": "5.8.3"}}
END
if [ ! -d "$dir/node_modules/typescript" ]; then
	(cd "$dir" && npm install --no-audit --no-fund --ignore-scripts --loglevel=error) >"$dir/log" 2>&1 ||
		skip "npm cannot fetch @grafana/schema and typescript: $(tail -1 "$dir/log")"
fi

# JSON has the values of enumerations, not their names: each is taken as the text it stands for.
cat >"$dir/types.ts" <<'END'
import type {Dashboard, Panel, RowPanel} from './node_modules/@grafana/schema/dist/esm/raw/dashboard/x/dashboard_types.gen';
import type * as heat from './node_modules/@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen';
import type * as series from './node_modules/@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
import type * as stat from './node_modules/@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type * as table from './node_modules/@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type * as text from './node_modules/@grafana/schema/dist/esm/raw/composable/text/panelcfg/x/TextPanelCfg_types.gen';

type Plain<T> = T extends string ? `${T}` : T extends (infer U)[] ? Plain<U>[] :
	T extends object ? {[K in keyof T]: Plain<T[K]>} : T;
type Fields<T> = {defaults: {custom?: Partial<T>}};
type Kind<K extends string, O, F = object> =
	Omit<Panel, 'type' | 'options'> & {type: K, options: Partial<O>, fieldConfig: Fields<F>};
type AnyPanel = RowPanel | Omit<Kind<'text', text.Options>, 'fieldConfig'> |
	Kind<'timeseries', series.Options, series.FieldConfig> | Kind<'stat', stat.Options> |
	Kind<'heatmap', heat.Options, heat.FieldConfig> | Kind<'table', table.Options>;
export type Board = Plain<Omit<Dashboard, 'panels' | 'id'> & {panels: AnyPanel[], id: null}>;
END
cat >"$dir/tsconfig.json" <<'END'
{"compilerOptions": {"strict": true, "noEmit": true, "skipLibCheck": true, "module": "esnext",
	"moduleResolution": "bundler", "target": "es2022"}, "include": ["*.ts"]}
END

types() { # directory of JSON files: whether they fit
	rm -f "$dir"/board_*.ts
	for file in "$1"/*.json; do
		name=$(basename "$file" .json)
		{ echo "import type {Board} from './types';"; printf 'export const board: Board = '
			cat "$file"; } >"$dir/board_$name.ts"
	done
	(cd "$dir" && node_modules/.bin/tsc -p .) >"$dir/said" 2>&1
}

types dashboards/grafana || { cat "$dir/said"; exit 1; }

# The compiler is asked for real: it refuses each of these.
rm -rf "$dir/spoilt"
mkdir "$dir/spoilt"
count=0
for wrong in 's/"mode": "absolute"/"mode": "relative"/' 's/"graphTooltip": 1/"graphTooltip": 9/' \
	's/"showLegend": true/"showLegend": 1/' 's/"drawStyle": "line"/"drawStyle": "lines"/' \
	's/"colorMode": "value"/"colorMode": "colour"/'; do
	count=$((count + 1))
	sed "$wrong" dashboards/grafana/overview.json >"$dir/spoilt/$count.json"
done
types "$dir/spoilt" || true
refused=$(grep -o '^board_[0-9]*' "$dir/said" | sort -u | wc -l)
[ "$refused" -eq "$count" ] || { echo "of $count wrong dashboards $refused are refused"; exit 1; }
rm -f "$dir"/board_*.ts
echo "test_types: the dashboards are of Grafana's types"
