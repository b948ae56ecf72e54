// Saves a chart as a file. Everything else on the page is there without this.
"use strict";
(() => {
  const rules = document.getElementById("chart-style").textContent;

  // The chart by itself: as wide as it is now, in the colours that it has now.
  const alone = (chart) => {
    const { width, height } = chart.getBoundingClientRect();
    const seen = getComputedStyle(document.documentElement);
    const colour = (_, name) => seen.getPropertyValue(name).trim();
    const copy = chart.cloneNode(true);
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const style = document.createElementNS(copy.namespaceURI, "style");
    style.textContent = rules.replace(/var\((--[\w-]+)\)/g, colour);
    const paper = document.createElementNS(copy.namespaceURI, "rect");
    paper.setAttribute("width", "100%");
    paper.setAttribute("height", "100%");
    paper.setAttribute("fill", colour("", "--paper"));
    copy.prepend(style, paper);
    return { text: new XMLSerializer().serializeToString(copy), width, height };
  };

  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const asSvg = (chart, name) => {
    save(new Blob([alone(chart).text], { type: "image/svg+xml" }), name + ".svg");
  };

  const asPng = (chart, name) => {
    const { text, width, height } = alone(chart);
    const picture = new Image();
    picture.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * width;
      canvas.height = 2 * height;
      canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, name + ".png"), "image/png");
    };
    picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  };

  for (const figure of document.querySelectorAll("figure")) {
    const chart = figure.querySelector("svg");
    const title = figure.querySelector("h3").textContent;
    const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const saving = document.createElement("div");
    saving.className = "saving";
    for (const [kind, action] of [["SVG", asSvg], ["PNG", asPng]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Save as " + kind;
      button.setAttribute("aria-label", `Save “${title}” as ${kind}`);
      button.addEventListener("click", () => action(chart, name));
      saving.append(button);
    }
    figure.querySelector("details").before(saving);
  }
})();
