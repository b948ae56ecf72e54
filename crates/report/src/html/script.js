// Saves charts as files, copies commands, and opens what is printed. All that is to be read is
// there without this.
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

  const button = (text, label, action) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", action);
    return made;
  };

  for (const figure of document.querySelectorAll("figure")) {
    const chart = figure.querySelector("svg");
    const title = figure.querySelector("h3").textContent;
    const saving = document.createElement("div");
    saving.className = "saving";
    for (const [kind, action] of [["SVG", asSvg], ["PNG", asPng]]) {
      const label = `Save “${title}” as ${kind}`;
      saving.append(button("Save as " + kind, label, () => action(chart, figure.dataset.file)));
    }
    figure.querySelector("details").before(saving);
  }

  // Where a page may not use the clipboard, as one that is a file, the text is selected.
  const copy = async (code, told) => {
    const range = document.createRange();
    range.selectNodeContents(code);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    let done = false;
    try {
      await navigator.clipboard.writeText(code.textContent);
      done = true;
    } catch {
      done = document.execCommand("copy");
    }
    told.textContent = done ? "copied" : "selected";
    setTimeout(() => { told.textContent = "copy"; }, 1500);
  };

  for (const code of document.querySelectorAll("pre > code, .recipe code")) {
    const made = button("copy", `Copy ${code.textContent}`, () => copy(code, made));
    made.className = "copy";
    made.setAttribute("aria-live", "polite");
    const pre = code.closest("pre");
    if (pre) {
      const command = document.createElement("div");
      command.className = "command";
      pre.replaceWith(command);
      command.append(pre, made);
    } else {
      code.after(made);
    }
  }

  addEventListener("beforeprint", () => {
    for (const study of document.querySelectorAll(".study")) study.open = true;
  });
})();
