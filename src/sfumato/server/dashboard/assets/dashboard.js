// What pages do besides: charts, words of the schema put into a query, and the word under the slider.
// Everything can be read and sent without it.
"use strict";
(() => {
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const axes = () => ({
    axisLine: { lineStyle: { color: color("--line") } }, axisTick: { show: false },
    axisLabel: { color: color("--soft"), fontSize: 13, hideOverlap: true }, splitLine: { lineStyle: { color: color("--line") } },
    nameTextStyle: { color: color("--soft"), fontSize: 13 },
  });

  // As in tables: a narrow space between thousands, and a point as in SQL, whatever the language.
  const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 5 });
  const short = (value) => digits.format(value).replaceAll(",", "\u202f").replace("-", "−");
  const numbers = () => { const { axisLabel, ...others } = axes(); return { type: "value", ...others, axisLabel: { ...axisLabel, formatter: short } }; };
  const named = (text) => ({ name: text, nameLocation: "middle", nameGap: 30 });

  // A point for each value, and a bar over its interval: stacked on an invisible one, it begins at the low end.
  const intervals = (data, axis) => {
    const names = data.points.map((point) => point[0]);
    const ink = (point) => color(point[4] ? "--chart-noise" : "--chart");
    const isFar = Math.min(...data.points.map((point) => point[2])) > Math.max(...data.points.map((point) => point[3])) / 2;
    const tilted = names.length > 4 && names.some((name) => name.length > 9);
    const bar = { type: "bar", animation: false, barWidth: 6, stack: "interval", stackStrategy: "all", silent: true };
    return {
      xAxis: { type: "category", data: names, ...axes(), ...(tilted ? {} : named(axis)), splitLine: { show: false }, axisLabel: { color: color("--soft"), fontSize: 13, interval: names.length > 24 ? "auto" : 0, rotate: tilted ? 35 : 0, width: 110, overflow: "truncate" } },
      yAxis: { ...numbers(), name: data.name, nameTextStyle: { color: color("--soft"), fontSize: 13, align: "left" }, scale: isFar },
      tooltip: { trigger: "axis", renderMode: "richText", formatter: ([one]) => { const [name, value, low, high] = data.points[one.dataIndex]; return `${name}\n${short(value)}   [${short(low)} … ${short(high)}]`; } },
      series: [
        { ...bar, itemStyle: { color: "transparent" }, data: data.points.map((point) => point[2]) },
        { ...bar, data: data.points.map((point) => ({ value: point[3] - point[2], itemStyle: { color: ink(point), borderRadius: 2 } })) },
        { type: "line", animation: false, lineStyle: { opacity: 0 }, symbol: "circle", symbolSize: 9, data: data.points.map((point) => ({ value: point[1], itemStyle: { color: ink(point), borderColor: color("--card"), borderWidth: 1.5 } })) },
      ],
    };
  };

  // What remained after the last charge still remains now.
  const steps = (data, axis) => ({
    xAxis: { type: "time", ...axes(), splitLine: { show: false } },
    yAxis: { ...numbers(), name: axis, nameTextStyle: { color: color("--soft"), fontSize: 13, align: "left" }, min: 0 },
    tooltip: { trigger: "axis", renderMode: "richText", valueFormatter: (value) => `${data.unit} ${short(value)}` },
    series: [{
      type: "line", animation: false, symbol: data.points.length > 40 ? "none" : "circle", symbolSize: 6, data: [...data.points, [new Date().toISOString(), data.points.at(-1)[1]]],
      lineStyle: { width: 2, color: color("--chart") }, itemStyle: { color: color("--chart") },
      areaStyle: { color: color("--chart-soft"), opacity: 0.25 },
    }],
  });

  // Answers of one query asked again and again, beside the exact value, which only made-up rows have.
  const dots = (data, axis, line) => ({
    xAxis: { ...numbers(), ...named(axis), min: Math.floor(data.low / 10) * 10, max: Math.ceil(data.high / 10) * 10, splitLine: { show: false } },
    yAxis: { type: "value", show: false, min: 0, max: data.points.length + 1 },
    series: [
      { type: "line", animation: false, lineStyle: { opacity: 0 }, symbol: "circle", symbolSize: 11, itemStyle: { color: color("--chart"), opacity: 0.75 }, data: data.points.map((value, place) => [value, place + 1]) },
      { type: "line", animation: false, symbol: "none", lineStyle: { color: color("--chart-noise"), width: 2 }, data: [[data.exact, 0], [data.exact, data.points.length + 1]], endLabel: { show: true, formatter: `${line}: ${data.exact}`, color: color("--soft"), fontSize: 13 } },
    ],
  });

  // A line of noisy numbers over the steps of a clock, and the band of their intervals around it.
  const band = (data, axis) => {
    const line = (points, style) => ({ type: "line", animation: false, symbol: "none", data: points, ...style });
    const at = (place) => data.points.map((point) => [point[0], point[place]]);
    const edge = { lineStyle: { opacity: 0 }, silent: true, stack: "band", stackStrategy: "all" };
    return {
      xAxis: { ...(data.is_time ? { type: "time" } : { type: "value", scale: true, minInterval: 1 }), ...axes(), ...(axis ? named(axis) : {}), splitLine: { show: false } },
      yAxis: { ...numbers(), name: data.name, nameTextStyle: { color: color("--soft"), fontSize: 13, align: "left" }, scale: true },
      tooltip: { trigger: "axis", renderMode: "richText", formatter: ([one]) => { const [step, value, low, high] = data.points[one.dataIndex]; return `${step}\n${short(value)}   [${short(low)} … ${short(high)}]`; } },
      series: [
        line(at(2), edge),
        line(data.points.map((point) => [point[0], point[3] - point[2]]), { ...edge, areaStyle: { color: color("--chart-soft"), opacity: 0.35 } }),
        line(at(1), { lineStyle: { width: 2, color: color("--chart") }, itemStyle: { color: color("--chart") } }),
      ],
    };
  };

  // Made-up rows as bars, and beside the middle of each one point and one line for each private answer to it. The second
  // axis has numbers below the names of the first, so that points can stand beside each other.
  const beside = (data, axis) => {
    const names = data.points.map((point) => point[0]), count = Math.max(...data.points.map((point) => point[2].length));
    const tilted = names.length > 4 && names.some((name) => name.length > 9);
    const inks = ["--chart-noise", "--ink", "--link"], shapes = ["circle", "diamond", "triangle"];
    const at = (place, which) => place + (which - (count - 1) / 2) * 0.16;
    const private_ = (which) => {
      const known = data.points.map((point, place) => [at(place, which), point[2][which]]).filter(([, answer]) => answer);
      const style = { type: "line", animation: false, xAxisIndex: 1, silent: true, itemStyle: { color: color(inks[which]) } };
      return [
        { ...style, symbol: "none", lineStyle: { width: 2, color: color(inks[which]) }, data: known.flatMap(([x, answer]) => [[x, answer[1]], [x, answer[2]], [x, "-"]]) },
        { ...style, symbol: shapes[which], symbolSize: 9, lineStyle: { opacity: 0 }, data: known.map(([x, answer]) => [x, answer[0]]) },
      ];
    };
    const said = ([one]) => {
      const [name, made, answers] = data.points[one.dataIndex];
      const lines = answers.map((answer, which) => answer && `${data.names[which + 1]}: ${short(answer[0])}   [${short(answer[1])} … ${short(answer[2])}]`);
      return [name, `${data.names[0]}: ${short(made)}`, ...lines.filter(Boolean)].join("\n");
    };
    return {
      xAxis: [
        { type: "category", data: names, ...axes(), ...(tilted ? {} : named(axis)), splitLine: { show: false }, axisLabel: { color: color("--soft"), fontSize: 13, interval: names.length > 10 ? "auto" : 0, rotate: tilted ? 35 : 0, width: 110, overflow: "truncate" } },
        { type: "value", min: -0.5, max: names.length - 0.5, show: false },
      ],
      yAxis: numbers(),
      tooltip: { trigger: "axis", renderMode: "richText", formatter: said },
      series: [
        { type: "bar", animation: false, barWidth: "62%", itemStyle: { color: color("--chart-soft"), borderRadius: 2 }, data: data.points.map((point) => point[1]) },
        ...[...Array(count).keys()].flatMap(private_),
      ],
    };
  };

  const kinds = { intervals, steps, dots, band, beside };
  const drawn = [];
  const draw = (root) => {
    if (!window.echarts) return;
    for (const place of root.querySelectorAll("[data-chart]")) {
      const data = JSON.parse(place.dataset.chart);
      const chart = window.echarts.init(place);
      const { axis, line } = place.dataset, made = () => kinds[data.kind](data, axis, line);
      chart.setOption({ animation: false, textStyle: { fontFamily: getComputedStyle(document.body).fontFamily }, grid: { left: 8, right: 18, top: 36, bottom: data.kind === "steps" ? 8 : 28, containLabel: true }, ...made() });
      drawn.push([chart, made]);
    }
  };
  const again = () => drawn.forEach(([chart, made]) => { chart.setOption(made()); chart.resize(); });

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
    const choice = way && target.form.querySelector(`[name="way"][value="${way}"]`);
    if (choice) choice.checked = true;
  }, true);
  // An estimate that was still waiting does not replace what a button has shown of the same form.
  let pressed = "";
  document.addEventListener("htmx:confirm", (event) => {
    const form = document.getElementById("console");
    if (!form || !form.contains(event.target)) return;
    const sent = new URLSearchParams(new FormData(form)).toString();
    if (event.target.matches("button")) pressed = sent;
    else if (sent === pressed) event.preventDefault();
    else pressed = "";
  });
  document.addEventListener("htmx:afterSettle", (event) => draw(event.target));
  window.addEventListener("resize", again);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  draw(document);
})();
