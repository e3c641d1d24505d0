(function () {
  "use strict";
  const specs = JSON.parse(document.getElementById("chart-specs").textContent);
  const charts = Array.from(document.querySelectorAll(".chart"));
  const shown = new Map();

  async function draw(element) {
    const size = element.clientWidth < 560 ? "narrow" : "wide";
    if (shown.get(element) === size) return;
    shown.set(element, size);
    try {
      // "ast" interprets expressions instead of compiling them, so that no script is ever made from text.
      await vegaEmbed(element, specs[element.dataset.chart][size], { renderer: "svg", actions: false, ast: true });
    } catch (error) {
      element.textContent = "The chart could not be drawn; its numbers are in the table below.";
      console.error(error);
    }
  }

  async function drawAll() {
    await Promise.all(charts.map(draw));
    document.documentElement.dataset.charts = "drawn";
  }

  let waiting = 0;
  window.addEventListener("resize", function () {
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });

  let opened = [];
  window.addEventListener("beforeprint", function () {
    opened = Array.from(document.querySelectorAll("details:not([open])"));
    opened.forEach(function (details) { details.open = true; });
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (details) { details.open = false; });
  });

  drawAll();
})();
