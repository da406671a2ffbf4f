// Elements. Text from the archive goes into text nodes and attributes only, never through a parser
// of markup.
//
//     el("p", {class: "note"}, "the file ", el("b", {}, name));

export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A button that looks like words.
export const link = (text, onclick, attributes = {}) => el("button", {type: "button", class: "link", onclick, ...attributes}, text);

export function selectOf(label, options, value, onchange) {
  const select = el("select", {"aria-label": label, onchange: () => onchange(select.value)});
  for (const [key, text] of options) select.append(el("option", {value: key, selected: key === value}, text));
  return el("label", {class: "choice"}, el("span", {}, label), select);
}

// One of few, side by side.
export function segments(label, options, value, onchange) {
  const group = el("div", {class: "segments", role: "radiogroup", "aria-label": label});
  for (const [key, text, title] of options)
    group.append(el("button", {
      type: "button", role: "radio", "aria-checked": String(key === value), title, onclick: () => onchange(key),
    }, text));
  return group;
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", {}, text); // files have no clipboard of that kind everywhere
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
