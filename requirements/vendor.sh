#!/bin/sh
# Fetch the scripts of the dashboard and of maps from npm, check them, and put them in place with their licenses.
# A package that is not byte for byte the one that was looked at is refused.
set -eu
cd "$(dirname "$0")/.."
assets=src/sfumato/server/dashboard/assets
maps=src/sfumato/geo/maps/assets
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() { # package version sha512
  npm pack --silent --pack-destination "$work" "$1@$2" > /dev/null
  found=$(openssl dgst -sha512 -binary "$work/$1-$2.tgz" | base64 -w0)
  [ "$found" = "$3" ] || { echo "$1@$2 is not what it was: sha512-$found"; exit 1; }
  mkdir "$work/$1"
  tar -xzf "$work/$1-$2.tgz" -C "$work/$1" --strip-components 1
}

fetch htmx.org 2.0.11 Thx/WtpeOQqSrqBCw/A1cwGJGg4UrVa3+sW0GmrM3p4gJgO89ecH4qtbnyzDDWFvBTqjnIMCgELTNt636dtamA==
fetch echarts 6.1.0 q0yaFPggC9FUdsWH4blavRWFmxdrIodbkoKNAjJudAI6CA9gNPxHtV2RcZNEepZVlk4yvBYkOkbk6HIVpIyHZA==
fetch zrender 6.1.0 oEGMDB6pOP2S6OwRR4PdVv610zrjnA3Bh+JnSG12fYJlBKjtNAoEb5fSUoCOOINlH96I2fU38/A2UpRKs67xYQ==
fetch leaflet 1.9.4 nxS1ynzJOmOlHp+iL3FyWqK89GtNL8U8rvlMOsQdTTssxZwCXh8N2NB3GDQOL+YR3XnWyZAxwQixURb+FA74PA==
fetch world-atlas 2.0.2 IXfV0qwlKXpckz1FhwXVwKRjiIhOnWttOskm5CtxMsjgE/MXAYRHWJqgXOpM8IkcPBoXnyTU5lFHcYa5ChG0LQ==

cp "$work/htmx.org/dist/htmx.min.js" "$assets/htmx.js"
cp "$work/echarts/dist/echarts.simple.min.js" "$assets/echarts.js"
{
  echo "htmx.js is htmx 2.0.11 (https://htmx.org), under this license:"
  echo
  cat "$work/htmx.org/LICENSE"
  echo
  echo "echarts.js is the simple build of Apache ECharts 6.1.0 (https://echarts.apache.org), under the Apache License 2.0,"
  echo "of which Sfumato has a copy in LICENSE. Its notices:"
  echo
  cat "$work/echarts/NOTICE"
  for license in "$work"/echarts/licenses/* "$work/zrender/LICENSE"; do
    echo
    echo "Inside of echarts.js, ${license#"$work"/}:"
    echo
    cat "$license"
  done
} > "$assets/NOTICES.txt"
(cd "$assets" && sha256sum htmx.js echarts.js NOTICES.txt) > requirements/vendor.sha256

cp "$work/leaflet/dist/leaflet.js" "$work/leaflet/dist/leaflet.css" "$maps/"
cp "$work/world-atlas/land-110m.json" "$maps/land.json"
{
  echo "leaflet.js and leaflet.css are Leaflet 1.9.4 (https://leafletjs.com), under this license:"
  echo
  cat "$work/leaflet/LICENSE"
  echo
  echo "land.json is land-110m.json of world-atlas 2.0.2 (https://github.com/topojson/world-atlas), made of Natural Earth"
  echo "(https://www.naturalearthdata.com), which is in the public domain. Its license:"
  echo
  cat "$work/world-atlas/LICENSE"
} > "$maps/NOTICES.txt"
(cd "$maps" && sha256sum leaflet.js leaflet.css land.json NOTICES.txt) > requirements/vendor-maps.sha256
echo "put in place: $(cut -c67- requirements/vendor.sha256 requirements/vendor-maps.sha256 | tr '\n' ' ')"
