// What pages do besides: charts, words of the schema put into a query, and the word under the slider.
// Everything can be read and sent without it.
"use strict";
(() => {
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const axes = () => ({
    axisLine: { lineStyle: { color: color("--line") } }, axisTick: { show: false },
    axisLabel: { color: color("--soft"), hideOverlap: true }, splitLine: { lineStyle: { color: color("--line") } },
    nameTextStyle: { color: color("--soft") },
  });

  const short = new Intl.NumberFormat(document.documentElement.lang, { maximumSignificantDigits: 5 });

  // A point and an interval for each group: the interval is a thin bar from its low to its high end.
  const intervals = (data) => {
    const names = data.points.map((point) => point[0]);
    const ends = data.points.map((point) => [point[2], point[3]]);
    const ink = (point) => color(point[4] ? "--chart-noise" : "--chart");
    const marks = data.points.map((point, place) => [
      { coord: [place, ends[place][0]], symbol: "rect", symbolSize: [12, 2], lineStyle: { color: ink(point) }, itemStyle: { color: ink(point) } },
      { coord: [place, ends[place][1]], symbol: "rect", symbolSize: [12, 2] },
    ]);
    const reach = ends.flat().concat(0);
    return {
      xAxis: { type: "category", data: names, ...axes(), splitLine: { show: false }, axisLabel: { color: color("--soft"), interval: names.length > 12 ? "auto" : 0, rotate: names.some((name) => name.length > 9) && names.length > 4 ? 30 : 0, width: 120, overflow: "truncate" } },
      yAxis: { type: "value", ...axes(), min: Math.min(...reach) < 0 ? undefined : 0, max: (range) => Math.max(range.max, ...reach) },
      tooltip: { trigger: "axis", renderMode: "richText", formatter: ([one]) => `${names[one.dataIndex]}\n${short.format(data.points[one.dataIndex][1])}   [${ends[one.dataIndex].map((end) => short.format(end)).join(" … ")}]` },
      series: [{
        type: "bar", barMaxWidth: 46,
        data: data.points.map((point) => ({ value: point[1], itemStyle: { color: color(point[4] ? "--warn-soft" : "--chart-soft"), borderRadius: 3 } })),
        markLine: { animation: false, silent: true, label: { show: false }, lineStyle: { type: "solid", width: 2, color: color("--chart") }, data: marks },
      }],
    };
  };

  const steps = (data) => ({
    xAxis: { type: "time", ...axes(), splitLine: { show: false } },
    yAxis: { type: "value", name: data.unit, min: 0, ...axes() },
    tooltip: { trigger: "axis", renderMode: "richText", valueFormatter: (value) => `${data.unit} ${short.format(value)}` },
    series: [{
      type: "line", step: "end", symbol: data.points.length > 40 ? "none" : "circle", symbolSize: 6, data: data.points,
      lineStyle: { width: 2, color: color("--chart") }, itemStyle: { color: color("--chart") },
      areaStyle: { color: color("--chart-soft"), opacity: 0.25 },
    }],
  });

  // Answers of one query asked again and again, beside the exact value, which only made-up rows have.
  const dots = (data) => ({
    xAxis: { type: "value", ...axes(), min: data.low, max: data.high, splitLine: { show: false } },
    yAxis: { type: "value", show: false, min: 0, max: data.points.length + 1 },
    series: [{
      type: "line", lineStyle: { opacity: 0 }, symbol: "circle", symbolSize: 11, itemStyle: { color: color("--chart"), opacity: 0.75 },
      data: data.points.map((value, place) => [value, place + 1]),
      markLine: { silent: true, symbol: "none", label: { color: color("--ink"), formatter: short.format(data.exact) }, lineStyle: { color: color("--warn"), width: 2, type: "solid" }, data: [{ xAxis: data.exact }] },
    }],
  });

  const kinds = { intervals, steps, dots };
  const drawn = [];
  const draw = (root) => {
    if (!window.echarts) return;
    for (const place of root.querySelectorAll(".chart")) {
      const source = place.querySelector("script");
      if (!source) continue;
      const data = JSON.parse(source.textContent);
      const chart = window.echarts.init(place);
      chart.setOption({ animation: false, textStyle: { fontFamily: "inherit" }, grid: { left: 8, right: 18, top: 28, bottom: 8, containLabel: true }, ...kinds[data.kind](data) });
      drawn.push([chart, data]);
    }
  };
  const again = () => drawn.forEach(([chart, data]) => { chart.setOption(kinds[data.kind](data)); chart.resize(); });

  const insert = (button) => {
    const area = document.getElementById(button.dataset.into);
    area.setRangeText(button.dataset.insert, area.selectionStart, area.selectionEnd, "end");
    area.focus();
    area.dispatchEvent(new Event("input", { bubbles: true }));
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-insert]");
    if (button) insert(button);
  });
  document.addEventListener("input", (event) => {
    const { target } = event;
    if (target.dataset.steps) document.getElementById(`${target.id}-shown`).textContent = `ε ${target.dataset.steps.split(" ")[target.value]}`;
    const way = target.dataset.steps ? "slider" : target.dataset.way;
    if (way) target.form.querySelector(`[name="way"][value="${way}"]`).checked = true;
  }, true);
  document.addEventListener("htmx:afterSettle", (event) => draw(event.target));
  window.addEventListener("resize", again);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  draw(document);
})();
