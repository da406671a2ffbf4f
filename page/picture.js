// Pictures: one function draws on the screen, and into files. The pen is that of a canvas, or one with
// the same names that writes SVG.
//
//     const draw = (pen) => { pen.fillStyle = "red"; pen.fillRect(0, 0, 10, 10); };
//     paint(canvas, {width, height}, draw);
//     saveLinks("call-paths", () => ({width, height, draw})); // "PNG", "SVG"

import {el, link} from "./dom.js";

const FONT = "system-ui, 'DejaVu Sans', sans-serif";

export function paint(canvas, {width, height}, draw, back = null) {
  const ratio = devicePixelRatio || 1, pen = canvas.getContext("2d");
  canvas.width = Math.max(1, width * ratio);
  canvas.height = Math.max(1, height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  pen.scale(ratio, ratio);
  if (back) {
    pen.fillStyle = back;
    pen.fillRect(0, 0, width, height);
  }
  pen.textBaseline = "middle";
  draw(withText(pen, (text, x, y, size, room) => {
    pen.save();
    if (room < Infinity) {
      pen.beginPath();
      pen.rect(x, y - size, room, 2 * size);
      pen.clip();
    }
    pen.font = `${size}px ${FONT}`;
    pen.fillText(text, x, y);
    pen.restore();
  }));
}

// Text in the middle of y, cut where its room ends.
const withText = (pen, text) => ({
  set fillStyle(color) { pen.fillStyle = color; },
  fillRect: (x, y, width, height) => pen.fillRect(x, y, width, height),
  image: (canvas, width, height) => pen.drawImage(canvas, 0, 0, width, height),
  text: (words, x, y, size, room = Infinity) => text(words, x, y, size, room),
});

// Names come from programs: what XML has signs for, and what it may not have at all.
function escaped(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd").replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

export function svgOf({width, height, draw, back}) {
  // A page that names no address at all is easier to trust.
  const out = [`<svg xmlns="${document.getElementById("edges").namespaceURI}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(FONT)}">`];
  let fill = "#000";
  const round = (x) => Number(x.toFixed(2));
  const pen = {
    set fillStyle(color) { fill = color; },
    fillRect(x, y, w, h) { out.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" fill="${escaped(fill)}"/>`); },
    image(canvas, w, h) { out.push(`<image width="${w}" height="${h}" href="${canvas.toDataURL("image/png")}"/>`); },
    text(words, x, y, size, room = Infinity) {
      const text = (at, base) => `<text x="${round(at)}" y="${round(base)}" font-size="${size}" dominant-baseline="central" fill="${escaped(fill)}">${escaped(words)}</text>`;
      out.push(room < Infinity ? `<svg x="${round(x)}" y="${round(y - size)}" width="${round(Math.max(0, room))}" height="${2 * size}">${text(0, size)}</svg>` : text(x, y));
    },
  };
  if (back) {
    pen.fillStyle = back;
    pen.fillRect(0, 0, width, height);
  }
  draw(pen);
  return `${out.join("\n")}\n</svg>\n`;
}

// One that was made of pixels: in SVG it is an image.
export function pictureOfCanvas(canvas) {
  const width = canvas.clientWidth || canvas.width, height = canvas.clientHeight || canvas.height;
  return {width, height, draw: (pen) => pen.image(canvas, width, height)};
}

function download(name, address) {
  const a = el("a", {href: address, download: name});
  document.body.append(a);
  a.click();
  a.remove();
}

function base64Of(text) {
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}

export const colorOfStyle = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// pictureNow() is what is shown when somebody asks: {width, height, draw}.
export function saveLinks(name, pictureNow) {
  const back = () => colorOfStyle("--card");
  const png = () => {
    const canvas = el("canvas"), picture = pictureNow();
    paint(canvas, picture, picture.draw, back());
    download(`perfmap-${name}.png`, canvas.toDataURL("image/png"));
  };
  const svg = () => download(`perfmap-${name}.svg`, `data:image/svg+xml;base64,${base64Of(svgOf({...pictureNow(), back: back()}))}`);
  return el("span", {class: "saves"}, link("PNG", png, {title: "save the picture as PNG"}), " ", link("SVG", svg, {title: "save the picture as SVG"}));
}
