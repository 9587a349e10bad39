// Suggestions for the word before the cursor of a query: names of the schema, functions and keywords.
// Arrow keys choose, Enter takes, Escape closes, Control and Space ask. Without it the field is a field.
"use strict";
(() => {
  const area = document.querySelector("[data-words]");
  if (!area) return;
  const words = JSON.parse(area.dataset.words);
  const most = 8;
  const list = document.createElement("ul");
  list.id = `${area.id}-words`;
  list.className = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", area.dataset.wordsTitle);
  list.hidden = true;
  const said = document.createElement("p");
  said.className = "hidden";
  said.setAttribute("role", "status");
  area.after(list, said);
  area.setAttribute("aria-autocomplete", "list");
  let found = [], chosen = -1;

  const before = () => /[\p{L}_"][\p{L}\p{N}_"]*$/u.exec(area.value.slice(0, area.selectionEnd))?.[0] ?? "";
  const close = () => {
    [found, chosen, list.hidden, said.textContent] = [[], -1, true, ""];
    list.replaceChildren();
    area.removeAttribute("aria-activedescendant");
  };
  const take = (word) => {
    const end = area.selectionEnd;
    area.setRangeText(word, end - before().length, end, "end");
    close();
    area.focus();
    area.dispatchEvent(new CustomEvent("input", { bubbles: true, detail: "taken" }));
  };
  const choose = (place) => {
    chosen = (place + found.length) % found.length;
    [...list.children].forEach((one, at) => one.setAttribute("aria-selected", String(at === chosen)));
    list.children[chosen].scrollIntoView({ block: "nearest" });
    area.setAttribute("aria-activedescendant", list.children[chosen].id);
  };
  const suggest = (all) => {
    const begun = before().replace(/^"/, "").toLowerCase();
    close();
    if (area.selectionStart !== area.selectionEnd || !(begun || all)) return;
    found = words.filter(([word]) => word.replace(/^"/, "").toLowerCase().startsWith(begun)).slice(0, most);
    if (!found.length || (found.length === 1 && found[0][0].toLowerCase() === before().toLowerCase())) return close();
    list.append(...found.map(([word, about], place) => {
      const item = document.createElement("li");
      [item.id, item.dataset.word] = [`${list.id}-${place}`, word];
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      const name = document.createElement("code"), more = document.createElement("span");
      [name.textContent, more.textContent, more.className] = [word, about, "soft small"];
      item.append(name, " ", more);
      return item;
    }));
    list.hidden = false;
    said.textContent = area.dataset.wordsFound.replace("{n}", found.length);
  };

  area.addEventListener("input", (event) => event.detail === "taken" || suggest(false));
  area.addEventListener("blur", close);
  area.addEventListener("click", close);
  area.addEventListener("keydown", (event) => {
    const { key } = event;
    if (key === " " && event.ctrlKey) suggest(true);
    else if (list.hidden) return;
    else if (key === "ArrowDown") choose(chosen + 1);
    else if (key === "ArrowUp") choose(chosen < 0 ? -1 : chosen - 1);
    else if (key === "Enter" && chosen >= 0) take(found[chosen][0]);
    else if (key === "Escape") close();
    else return;
    event.preventDefault();
  });
  list.addEventListener("mousedown", (event) => {
    event.preventDefault();
    const item = event.target.closest("[data-word]");
    if (item) take(item.dataset.word);
  });
})();
