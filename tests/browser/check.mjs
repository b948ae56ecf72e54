// Opens reports in Chromium, and fails where one is not as it should be.
//
//   node check.mjs [--shots FOLDER] CHROMIUM REPORT.html...
//
// Each report is opened light and dark, wide and narrow, and once without JavaScript.
// Everywhere every chart must be drawn with data, within the page, with no text over
// another, and with a table of the same; nothing may be asked of the network, and nothing
// said on the console. axe-core may have no serious finding.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };
const WAYS = [
  { name: "light", colorScheme: "light", viewport: WIDE },
  { name: "dark", colorScheme: "dark", viewport: WIDE },
  { name: "light-narrow", colorScheme: "light", viewport: NARROW },
  { name: "dark-narrow", colorScheme: "dark", viewport: NARROW },
  { name: "without-javascript", colorScheme: "light", viewport: NARROW, javaScriptEnabled: false },
];

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const failures = [];
const times = [];

// Whether a page is wider than what it is shown on: runs in the browser.
const width = () => {
  const { scrollWidth, clientWidth } = document.documentElement;
  return scrollWidth > clientWidth ? [`the page is ${scrollWidth} wide in ${clientWidth}`] : [];
};

// What is wrong with a report as it is drawn: runs in the browser.
const faults = () => {
  const found = [];
  const inside = (box, frame) =>
    box.left >= frame.left - 4 && box.right <= frame.right + 4 && box.top >= frame.top - 4 &&
    box.bottom <= frame.bottom + 4;
  const marks = ".dots, .area, .centre, .curve, .points, .median, rect[class^='t-']";
  for (const figure of document.querySelectorAll("figure")) {
    const title = figure.querySelector("h3").textContent;
    const chart = figure.querySelector("svg.chart");
    const frame = chart.getBoundingClientRect();
    if (frame.width < 300 || frame.height < 40) {
      found.push(`${title}: ${frame.width} by ${frame.height}`);
    }
    const drawn = [...chart.querySelectorAll(marks)];
    const seen = drawn.filter((mark) => {
      const box = mark.getBoundingClientRect();
      const style = getComputedStyle(mark);
      const colour = style.fill !== "none" ? style.fill : style.stroke;
      // A single dot is a line without length.
      const isThere = box.width > 0 || box.height > 0 || mark.matches(".dots");
      return isThere && colour !== "none" && colour !== "rgb(0, 0, 0)";
    });
    if (seen.length === 0) found.push(`${title}: nothing is drawn`);
    for (const mark of drawn) {
      const box = mark.getBoundingClientRect();
      if (!inside(box, frame)) found.push(`${title}: ${mark.className.baseVal} is outside`);
    }
    const texts = [...chart.querySelectorAll("text")]
      .filter((text) => text.textContent && getComputedStyle(text).display !== "none")
      .map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
    if (texts.length === 0) found.push(`${title}: no text`);
    for (const [index, { text, box }] of texts.entries()) {
      if (!inside(box, frame)) found.push(`${title}: “${text}” is outside`);
      for (const other of texts.slice(index + 1, index + 12)) {
        const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
        const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
        if (across > 1 && down > 3) found.push(`${title}: “${text}” over “${other.text}”`);
      }
    }
    const rows = figure.querySelectorAll("details tbody tr");
    const empty = [...rows].filter((row) => row.textContent.trim() === "");
    if (rows.length === 0 || empty.length > 0) found.push(`${title}: its table has no rows`);
  }
  const foreign = [...document.querySelectorAll("*")].filter((element) =>
    [...element.attributes].some(({ name }) => name.startsWith("on")) ||
    ["IMG", "IFRAME", "OBJECT", "EMBED", "LINK", "BASE", "FORM"].includes(element.tagName));
  if (foreign.length > 0) found.push(`${foreign[0].outerHTML.slice(0, 99)} is no part of a report`);
  if (document.scripts.length !== document.querySelectorAll("script[data-run]").length + 1) {
    found.push("there are scripts that are no part of a report");
  }
  return found.slice(0, 12);
};

const seriousFindings = async () => {
  const { violations } = await window.axe.run(document, {
    resultTypes: ["violations"],
    // It would ask for the style sheet again, which a page that is a file may not.
    preload: false,
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `axe: ${id}: ${nodes.length} times, first ${nodes[0].html.slice(0, 120)}`);
};

// Opens a report in one way.
const checkWay = async (browser, file, { name, ...options }, shots) => {
  const where = `${basename(file)}, ${name}`;
  const complain = (what) => failures.push(`${where}: ${what}`);
  const context = await browser.newContext({ ...options, acceptDownloads: true });
  const page = await context.newPage();
  const url = pathToFileURL(file).href;
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complain(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => complain(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    complain(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const isOwn = request.url() === url || /^(data|blob):/.test(request.url());
    if (!isOwn) complain(`it asks for ${request.url()}`);
  });
  const began = performance.now();
  await page.goto(url, { waitUntil: "load" });
  // The second frame is asked for once the first is drawn.
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const laidOut = () => document.body.getBoundingClientRect().height;
  const hasScript = options.javaScriptEnabled !== false;
  await page.evaluate(hasScript ? drawn : laidOut);
  times.push([where, performance.now() - began]);
  (await page.evaluate(width)).forEach(complain);
  (await page.evaluate(faults)).forEach(complain);
  if (name === "light") await checkHandling(context, page, complain);
  if (hasScript) {
    await page.evaluate(axe);
    (await page.evaluate(seriousFindings)).forEach(complain);
  }
  if (shots) await page.screenshot({ path: join(shots, `${basename(file, ".html")}-${name}.png`), fullPage: true });
  await context.close();
};

// The keyboard opens tables, and charts are saved as files that stand by themselves.
const checkHandling = async (context, page, complain) => {
  const figure = page.locator("figure").first();
  if ((await figure.count()) === 0) return;
  await figure.locator("summary").focus();
  await page.keyboard.press("Enter");
  if (!(await figure.locator("table").isVisible())) complain("the keyboard opens no table");
  const saved = async (kind) => {
    const [download] = await Promise.all([
      page.waitForEvent("download", { timeout: 20000 }),
      figure.getByText(`Save as ${kind}`).click(),
    ]);
    return readFileSync(await download.path());
  };
  const png = await saved("PNG");
  if (png.subarray(1, 4).toString() !== "PNG" || png.length < 5000) {
    complain(`the saved PNG has ${png.length} bytes`);
  }
  const svg = (await saved("SVG")).toString();
  if (svg.includes("var(--")) complain("the saved SVG has colours that only the page knows");
  const alone = await context.newPage();
  await alone.setContent(svg);
  const colour = await alone.evaluate(() => getComputedStyle(document.querySelector("text")).fill);
  if (colour === "rgb(0, 0, 0)") complain("the saved SVG has no styles");
  await alone.close();
};

const main = async (argv) => {
  const option = (name) => (argv[0] === name ? argv.splice(0, 2)[1] : null);
  const shots = option("--shots");
  const [executablePath, ...reports] = argv;
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  try {
    for (const report of reports) {
      for (const way of WAYS) await checkWay(browser, report, way, shots);
    }
  } finally {
    await browser.close();
  }
  for (const [where, took] of times) console.log(`${where}: drawn after ${took.toFixed(0)} ms`);
  for (const failure of failures) console.log(`FAILED: ${failure}`);
  console.log(`${reports.length} reports, ${times.length} ways, ${failures.length} failures`);
  process.exit(failures.length > 0 ? 1 : 0);
};

await main(process.argv.slice(2));
