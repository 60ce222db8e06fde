"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const form = byId("filters"), find = byId("find"), tally = byId("tally"), showAll = byId("show-all");
  const selects = { player: byId("by-player"), kind: byId("by-kind"), sight: byId("by-sight") };
  const events = [...document.querySelectorAll("#timeline article.event")];
  const rounds = [...document.querySelectorAll("#timeline section.round")];
  const texts = new Map();
  const opened = new Set();
  const fold = (text) => text.normalize("NFKC").toLowerCase();
  const textOf = (node) => {
    if (!texts.has(node)) texts.set(node, fold(node.textContent));
    return texts.get(node);
  };

  // Marks the words found without touching the document; a browser that cannot does without.
  const highlight = (shown, query) => {
    if (!("highlights" in CSS)) return;
    CSS.highlights.delete("found");
    if (query.length < 2) return;
    const ranges = [];
    for (const event of shown) {
      const walker = document.createTreeWalker(event, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const text = node.data.toLowerCase();
        if (text.length !== node.data.length) continue;
        for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length)) {
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, at + query.length);
          if (ranges.push(range) > 2000) return void CSS.highlights.set("found", new Highlight(...ranges));
        }
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
  };

  const apply = () => {
    const query = fold(find.value.trim());
    const wanted = Object.entries(selects).filter(([, select]) => select.value);
    const shown = [];
    for (const part of opened) part.open = false;
    opened.clear();
    for (const event of events) {
      const fits = wanted.every(([key, select]) => event.dataset[key] === select.value)
        && (!query || textOf(event).includes(query));
      event.hidden = !fits;
      if (fits) shown.push(event);
    }
    for (const round of rounds) round.hidden = events.length > 0 && !round.querySelector("article.event:not([hidden])")
      && (query !== "" || wanted.length > 0);
    // What was found only inside a fold would look like a mistake: such a fold opens.
    if (query) for (const event of shown.slice(0, 500)) for (const part of event.querySelectorAll(".folds details:not([open])")) {
      if (textOf(part).includes(query) && !fold(event.querySelector("h4").textContent + " " + (event.querySelector(":scope > .said")?.textContent ?? "")).includes(query)) {
        part.open = true;
        opened.add(part);
      }
    }
    const all = shown.length === events.length;
    tally.value = all ? `${events.length} events` : `${shown.length} of ${events.length} events`;
    showAll.hidden = all && !query && wanted.length === 0;
    highlight(shown, query);
  };

  let waiting = 0;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(apply, events.length > 500 ? 200 : 0); };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply, 0));
  find.addEventListener("input", soon);
  for (const select of Object.values(selects)) select.addEventListener("change", apply);
  apply();

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !event.target.closest("input, select, textarea")) {
      event.preventDefault();
      find.focus();
      find.select();
    } else if (event.key === "Escape" && event.target === find) {
      find.value = "";
      apply();
      find.blur();
    }
  });

  // A link to an event that is filtered away, or that stands inside a closed fold, shows it.
  const arrive = () => {
    const target = location.hash.length > 1 && byId(location.hash.slice(1));
    if (!target) return;
    if (target.closest("[hidden]")) { form.reset(); apply(); }
    for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", arrive);
  arrive();

  // Boards: the list of steps becomes a stepper.
  for (const steps of document.querySelectorAll(".steps")) {
    const frames = [...steps.children];
    const bar = document.createElement("div");
    const back = document.createElement("button"), on = document.createElement("button");
    const slider = document.createElement("input");
    bar.className = "stepper";
    back.type = on.type = "button";
    back.textContent = "‹ Back";
    on.textContent = "Next ›";
    slider.type = "range";
    slider.min = 1;
    slider.max = frames.length;
    slider.setAttribute("aria-label", "Step");
    const show = (place) => {
      slider.value = place;
      frames.forEach((frame, index) => { frame.open = index === place - 1; frame.hidden = index !== place - 1; });
      back.disabled = place === 1;
      on.disabled = place === frames.length;
    };
    slider.addEventListener("input", () => show(Number(slider.value)));
    back.addEventListener("click", () => show(Number(slider.value) - 1));
    on.addEventListener("click", () => show(Number(slider.value) + 1));
    bar.append(back, slider, on);
    for (const frame of frames) frame.querySelector("summary").tabIndex = -1;
    steps.before(bar);
    show(frames.length);
  }
})();
