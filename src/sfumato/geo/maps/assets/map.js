"use strict";
// Draws the cells of a map, or lines with values, from the data that stand in the page. Nothing is fetched.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const COLORS = ["#fde725", "#a0da39", "#4ac16d", "#1fa187", "#277f8e", "#365c8d", "#46327e"]; // viridis
  const MOST_LISTED = 50;
  let statistic = data.statistics[0];
  let steps = classes(statistic);
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const map = L.map("map", {
    preferCanvas: true, zoomSnap: 0.25, worldCopyJump: false,
    zoomAnimation: !isStill, fadeAnimation: !isStill, inertia: !isStill, keyboardPanDelta: 120,
  });
  map.attributionControl.setPrefix("Leaflet");
  L.control.scale({ imperial: false }).addTo(map);

  const below = { interactive: false };
  if (data.land) {
    const shore = { ...below, style: { color: color("--coast"), weight: 1, fillColor: color("--land"), fillOpacity: 1 } };
    L.geoJSON(data.land, shore).addTo(map);
    map.attributionControl.addAttribution("coastlines: Natural Earth");
  }
  const graticule = L.layerGroup().addTo(map);
  const cells = L.geoJSON(data.features, { style: look, onEachFeature: (feature, layer) => { layer.bindPopup(() => told(feature)); } });
  cells.addTo(map);
  if (data.roads) {
    L.geoJSON(data.roads, { ...below, style: { color: color("--road"), weight: 1.2, opacity: 0.8, fill: false } }).addTo(map);
  }

  function isNoise(properties, name) {
    const value = properties[name], low = properties[`${name}_low`], high = properties[`${name}_high`];
    if (typeof properties[`${name}_stands_out`] === "boolean") { return !properties[`${name}_stands_out`]; }
    return typeof value !== "number" || (typeof low === "number" && typeof high === "number" && low <= 0 && high >= 0);
  }

  function classes(name) { // the upper ends of the colors: equal steps of round numbers
    const clear = data.features.features.filter((one) => !isNoise(one.properties, name));
    const values = clear.map((one) => one.properties[name]);
    const least = Math.min(...values), most = Math.max(...values);
    if (!values.length || least === most) { return [most]; }
    const raw = (most - least) / COLORS.length, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= raw * 0.999);
    const first = Math.floor(least / step) * step + step, ends = [];
    for (let end = first; ends.length < COLORS.length - 1 && end < most; end += step) { ends.push(end); }
    return [...ends, most];
  }

  function shade(properties) {
    if (isNoise(properties, statistic)) { return null; }
    const at = steps.findIndex((end) => properties[statistic] <= end);
    return COLORS[at < 0 ? steps.length - 1 : at];
  }

  function look(feature) {
    const found = shade(feature.properties), isLine = feature.geometry.type.endsWith("LineString");
    const none = { color: color("--noise"), weight: isLine ? 2 : 0.5, opacity: isLine ? 0.7 : 0.5, dashArray: isLine ? "2 5" : null, fillOpacity: 0 };
    if (isLine) { return found ? { color: found, weight: 6, opacity: 1, dashArray: null } : none; }
    return found ? { color: found, weight: 0.5, opacity: 0.9, fillColor: found, fillOpacity: 0.72 } : { ...none, fill: true };
  }

  const shown = (value) => (typeof value === "number" ? value.toLocaleString("en-US", { maximumFractionDigits: 2 }) : "none");

  function figure(properties, name) {
    const value = properties[name], low = properties[`${name}_low`], high = properties[`${name}_high`];
    const width = typeof low === "number" && typeof high === "number" ? ` ± ${shown((high - low) / 2)}` : "";
    return `${shown(value)}${width}${isNoise(properties, name) ? " (not told from 0)" : ""}`;
  }

  function told(feature) {
    const box = document.createElement("div"), head = document.createElement("b");
    head.textContent = feature.properties.cell ?? feature.properties.name ?? "";
    box.append(head);
    for (const name of data.statistics) {
      const line = document.createElement("div");
      line.textContent = `${name}: ${figure(feature.properties, name)}`;
      box.append(line);
    }
    return box;
  }

  function legend() {
    const list = document.getElementById("legend");
    list.replaceChildren();
    const row = (fill, text) => {
      const item = document.createElement("li"), swatch = document.createElement("i");
      swatch.style.background = fill ?? "transparent";
      if (!fill) { swatch.style.borderStyle = "dashed"; swatch.style.borderColor = color("--noise"); }
      item.append(swatch, text);
      list.append(item);
    };
    row(null, "not told from 0");
    steps.forEach((end, at) => { row(COLORS[at], at ? `more than ${shown(steps[at - 1])}, up to ${shown(end)}` : `up to ${shown(end)}`); });
  }

  function listed() {
    const list = document.getElementById("cells"), items = [];
    cells.eachLayer((layer) => { if (!isNoise(layer.feature.properties, statistic)) { items.push(layer); } });
    items.sort((a, b) => b.feature.properties[statistic] - a.feature.properties[statistic]);
    list.replaceChildren(...items.slice(0, MOST_LISTED).map((layer) => {
      const item = document.createElement("li"), button = document.createElement("button");
      const name = document.createElement("span"), value = document.createElement("span");
      name.textContent = layer.feature.properties.cell ?? layer.feature.properties.name ?? "";
      value.textContent = figure(layer.feature.properties, statistic);
      button.type = "button";
      button.append(name, value);
      button.addEventListener("click", () => {
        map.panTo(layer.getBounds().getCenter(), { animate: !isStill });
        layer.openPopup(layer.getBounds().getCenter());
        document.getElementById("said").textContent = `${name.textContent}: ${value.textContent}`;
      });
      item.append(button);
      return item;
    }));
    document.getElementById("count").textContent = `${items.length} of ${data.features.features.length} are told from 0; the largest first.`;
  }

  function lines() { // a graticule of round degrees
    const bounds = map.getBounds(), span = Math.max(bounds.getEast() - bounds.getWest(), 1e-6);
    const raw = span / 5, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw);
    const pen = { ...below, color: color("--grid"), weight: 1, opacity: 0.9 };
    graticule.clearLayers();
    const low = Math.max(bounds.getSouth(), -89), high = Math.min(bounds.getNorth(), 89);
    for (let at = Math.ceil(bounds.getWest() / step) * step; at <= bounds.getEast(); at += step) { graticule.addLayer(L.polyline([[low, at], [high, at]], pen)); }
    for (let at = Math.ceil(low / step) * step; at <= high; at += step) { graticule.addLayer(L.polyline([[at, bounds.getWest()], [at, bounds.getEast()]], pen)); }
    graticule.eachLayer((line) => { line.bringToBack(); });
  }

  function chosen() {
    steps = classes(statistic);
    cells.setStyle(look);
    legend();
    listed();
  }

  const choice = document.getElementById("statistic");
  for (const name of data.statistics) { choice.append(new Option(name, name)); }
  choice.addEventListener("change", () => { statistic = choice.value; map.closePopup(); chosen(); });
  const extent = cells.getBounds();
  if (extent.isValid()) { map.fitBounds(extent, { padding: [12, 12], animate: false }); } else { map.setView([0, 0], 1); }
  map.on("moveend", lines);
  addEventListener("resize", () => { map.invalidateSize(); });
  lines();
  chosen();
  document.documentElement.dataset.ready = "yes";
})();
