// Opens reports in Chromium, and fails where one is not as it should be.
//
//   node check.mjs [--shots FOLDER] CHROMIUM REPORT.html...
//
// Each report is opened light and dark, at three widths, and once without JavaScript. As it is
// opened it must not be too high, its first picture must be in sight, and at each width each row
// of that has its name, its times and its difference within the page, none over another. Then
// everything is opened: every chart must be drawn with data, within the page, with no text over
// another, and with a table of the same; nothing may be asked of the network, and nothing said
// on the console. Nothing moves sideways but what says so. axe-core may have no serious finding.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const WIDE = { width: 1200, height: 900 };
// As it is opened a page of one run has at most so many pixels, and its picture ends by there.
const HEIGHT_MAX = 8000;
const PICTURE_BEGINS_MAX = 700;
const MIDDLE = { width: 768, height: 1024 };
const NARROW = { width: 390, height: 844 };
const WAYS = [
  { name: "light", colorScheme: "light", viewport: WIDE },
  { name: "dark", colorScheme: "dark", viewport: WIDE },
  { name: "light-middle", colorScheme: "light", viewport: MIDDLE },
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

// What is wrong with a page of one run before anything is opened: runs in the browser.
const faultsAtFirst = ([heightMax, beginsMax]) => {
  const found = [];
  const runs = document.querySelectorAll("section.run");
  const table = document.querySelector(".answer");
  if (runs.length !== 1 || !table) return found;
  const page = document.documentElement;
  if (page.clientWidth >= 1200) {
    if (page.scrollHeight > heightMax) found.push(`it is ${page.scrollHeight} pixels high`);
    const begins = table.getBoundingClientRect().top;
    if (begins > beginsMax) found.push(`its first picture begins at ${begins}`);
  }
  for (const row of table.querySelectorAll("tbody tr:not(.group, .prose)")) {
    const name = row.querySelector(".name b").textContent;
    const parts = [".name", ".times", ".verdict", ".bar"].map((part) => [part, row.querySelector(part)])
      // A row of one arm has nothing to say a verdict of.
      .filter(([part, element]) => part !== ".verdict" || element.textContent.trim() !== "");
    const boxes = parts.map(([part, element]) => [part, element.getBoundingClientRect()]);
    for (const [index, [part, box]] of boxes.entries()) {
      if (box.width < 20 || box.height < 10) found.push(`${name}: ${part} is not in sight`);
      if (box.left < 0 || box.right > page.clientWidth + 1) found.push(`${name}: ${part} is beyond the edge`);
      for (const [other, its] of boxes.slice(index + 1)) {
        const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
        const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
        if (across > 1 && down > 1) found.push(`${name}: ${part} is over ${other}`);
      }
    }
  }
  const nav = document.querySelector("nav");
  if (getComputedStyle(nav).position !== "sticky") found.push("the contents do not stay in sight");
  return found.slice(0, 12);
};

// What is moved sideways and does not say so: runs in the browser.
const sideways = () => [...document.querySelectorAll("body *")]
  .filter((element) => element.scrollWidth > element.clientWidth + 1)
  .filter((element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX))
  .filter((element) => !element.matches(".scroll, nav ol"))
  .map((element) => `${element.outerHTML.slice(0, 80)} is moved sideways and does not say so`);

// Opens all that can be opened: runs in the browser.
const openAll = () => document.querySelectorAll("details").forEach((details) => { details.open = true; });

// What is wrong with a report as it is drawn: runs in the browser.
const faults = () => {
  const found = [];
  const inside = (box, frame, beyond = 4) =>
    box.left >= frame.left - beyond && box.right <= frame.right + beyond &&
    box.top >= frame.top - beyond && box.bottom <= frame.bottom + beyond;
  const marks = ".dots, .spread, .centre, .curve, .points, .median, .ring, rect[class^='t-'], rect[class^='p-']";
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
      // The middle of a ring is its value, which may be at an end of the axis.
      const beyond = mark.matches(".ring") ? box.width / 2 + 1 : 4;
      if (!inside(box, frame, beyond)) found.push(`${title}: ${mark.className.baseVal} is outside`);
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
  (await page.evaluate(faultsAtFirst, [HEIGHT_MAX, PICTURE_BEGINS_MAX])).forEach(complain);
  if (shots) await page.screenshot({ path: join(shots, `${basename(file, ".html")}-${name}.png`), fullPage: true });
  if (name === "light") await checkContents(page, complain);
  await page.evaluate(openAll);
  (await page.evaluate(width)).forEach(complain);
  (await page.evaluate(sideways)).forEach(complain);
  (await page.evaluate(faults)).forEach(complain);
  if (name === "light") await checkHandling(context, page, complain);
  if (hasScript) {
    await page.evaluate(axe);
    (await page.evaluate(seriousFindings)).forEach(complain);
  }
  await context.close();
};

// A link of the contents opens what it leads to, the keyboard too.
const checkContents = async (page, complain) => {
  const link = page.locator("nav a", { hasText: /machine/i }).first();
  if ((await link.count()) === 0) return;
  await link.focus();
  await page.keyboard.press("Enter");
  const target = page.locator(await link.getAttribute("href"));
  if (!(await target.isVisible())) complain("a link of the contents opens nothing");
};

// The keyboard opens tables, and charts are saved as files that stand by themselves.
const checkHandling = async (context, page, complain) => {
  const figure = page.locator("figure").first();
  if ((await figure.count()) === 0) return;
  await figure.locator("details").evaluate((details) => { details.open = false; });
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
  const commands = await page.locator("pre > code").count();
  const copied = await page.locator(".command:has(pre > code) .copy").count();
  const isComparison = (await page.locator(".answer").count()) > 0;
  if (copied !== commands || isComparison && copied === 0) {
    complain(`of ${commands} commands ${copied} have a button that copies them`);
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
