"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const form = byId("filters"), find = byId("find"), tally = byId("tally"), showAll = byId("show-all");
  const selects = { player: byId("by-player"), kind: byId("by-kind"), sight: byId("by-sight") };
  const byRound = byId("by-round"), view = byId("as-seen-by"), oneView = byId("one-view");
  const quiet = [...document.querySelectorAll("#silent article.event")];
  const ofAll = ["standings", "players", "panels", "scenario", "usage"].map(byId).filter(Boolean);
  const events = [...document.querySelectorAll("#timeline article.event")];
  const rounds = [...document.querySelectorAll("#timeline section.round")];
  const ofRounds = document.querySelectorAll("#timeline .of-round");
  const rows = [...document.querySelectorAll(".searched tbody tr")];
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

  // As one player saw it: what it did not see is gone, and of others' decisions no more is left than was told.
  const look = () => {
    const viewer = view && view.value;
    const sees = (event) => !viewer || !("seen" in event.dataset) || event.dataset.seen.split(" ").includes(viewer);
    for (const event of [...events, ...quiet]) event.classList.toggle("others", Boolean(viewer) && event.dataset.asked !== viewer);
    for (const event of quiet) event.hidden = !sees(event);
    for (const part of ofAll) part.hidden = Boolean(viewer);
    for (const part of ofRounds) part.hidden = Boolean(viewer);
    if (oneView) oneView.hidden = !viewer;
    return sees;
  };

  const told = (event) => fold(["h4", ":scope > .said"].map((part) => event.querySelector(part)?.textContent ?? "").join(" "));

  const apply = () => {
    const query = fold(find.value.trim());
    const wanted = Object.entries(selects).filter(([, select]) => select.value);
    const sees = look();
    const shown = [];
    for (const part of opened) part.open = false;
    opened.clear();
    for (const event of events) {
      const fits = wanted.every(([key, select]) => event.dataset[key] === select.value)
        && sees(event) && (!byRound?.value || event.parentElement.id === byRound.value)
        && (!query || (event.classList.contains("others") ? told(event) : textOf(event)).includes(query));
      event.hidden = !fits;
      if (fits) shown.push(event);
    }
    for (const row of rows) row.hidden = query !== "" && !textOf(row).includes(query);
    for (const round of rounds) round.hidden = events.length > 0 && !round.querySelector("article.event:not([hidden])")
      && (query !== "" || wanted.length > 0 || Boolean(byRound?.value || view?.value));
    // What was found only inside a fold would look like a mistake: such a fold opens.
    if (query) for (const event of shown.slice(0, 500)) for (const part of event.querySelectorAll(".folds details:not([open])")) {
      if (!event.classList.contains("others") && textOf(part).includes(query) && !told(event).includes(query)) {
        part.open = true;
        opened.add(part);
      }
    }
    const all = shown.length === events.length;
    const count = events.length.toLocaleString("en");
    tally.value = all ? `${count} events` : `${shown.length.toLocaleString("en")} of ${count} events`;
    showAll.hidden = all && !query && wanted.length === 0 && !byRound?.value && !view?.value;
    highlight(shown, query);
  };

  let waiting = 0;
  const soon = () => {
    if (events.length <= 500) return apply();
    clearTimeout(waiting);
    waiting = setTimeout(apply, 200);
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  showAll.addEventListener("click", () => { form.reset(); apply(); });
  find.addEventListener("input", soon);
  for (const select of [...Object.values(selects), byRound, view]) select?.addEventListener("change", apply);
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

  // Networks: whoever is pointed at, alone with the arcs that begin or end there; a click keeps it.
  for (const web of document.querySelectorAll(".web")) {
    const spots = [...web.querySelectorAll(".spot")], arcs = [...web.querySelectorAll(".arc")];
    let kept = null;
    const ask = (place) => {
      web.classList.toggle("asked", place !== null);
      const met = new Set([place]);
      for (const arc of arcs) {
        const ends = arc.dataset.ends.split(" "), told = ends.includes(place);
        arc.classList.toggle("told", told);
        if (told) for (const end of ends) met.add(end);
      }
      for (const spot of spots) spot.classList.toggle("told", met.has(spot.dataset.place));
    };
    for (const spot of spots) {
      spot.addEventListener("mouseenter", () => ask(spot.dataset.place));
      spot.addEventListener("mouseleave", () => ask(kept));
      spot.addEventListener("click", (event) => {
        event.stopPropagation();
        ask(kept = kept === spot.dataset.place ? null : spot.dataset.place);
      });
    }
    web.addEventListener("click", () => ask(kept = null));
  }

  // Boards: the last scene stands there; the others are made from what changed, track by track.
  const at = (track, scene) => {
    let low = 0, high = track.length / 2 - 1;
    while (low < high) {
      const half = (low + high + 1) >> 1;
      if (track[2 * half] <= scene) low = half; else high = half - 1;
    }
    return track[2 * low + 1];
  };
  const made = (tag, parts) => Object.assign(document.createElement(tag), parts);
  for (const stage of document.querySelectorAll(".stage:has(> .scenes)")) {
    const data = JSON.parse(stage.querySelector(".scenes").content.textContent);
    const last = data.captions.length - 1;
    const [places, pieces, cells] = [".place", ".piece", ".middle tbody bdi"].map((some) => [...stage.querySelectorAll(some)]);
    const caption = stage.querySelector(".caption bdi"), notes = stage.querySelector(".notes");
    const forms = places.map(() => -1);
    let scene = last, timer = 0;
    const bar = made("div", { className: "stepper" });
    const play = made("button", { type: "button", className: "play" });
    const back = made("button", { type: "button", textContent: "‹", title: "Back" });
    const on = made("button", { type: "button", textContent: "›", title: "Next" });
    const slider = made("input", { type: "range", min: 0, max: last });
    const count = made("output", {});
    for (const [part, label] of [[back, "Back"], [on, "Next"], [slider, "Step"]]) part.setAttribute("aria-label", label);
    const show = (place) => {
      scene = Math.max(0, Math.min(last, place));
      data.tiles.forEach((track, index) => {
        const form = at(track, scene);
        if (form !== forms[index]) places[index].innerHTML = data.forms[forms[index] = form];
      });
      data.pieces.forEach((track, index) => {
        const spot = at(track, scene), piece = pieces[index];
        piece.setAttribute("visibility", spot ? "visible" : "hidden");
        if (!spot) return;
        piece.style.transform = `translate(${spot[0]}px, ${spot[1]}px)`;
        piece.classList.toggle("held", spot[2] === 1);
      });
      data.cells.forEach((track, index) => { cells[index].textContent = at(track, scene); });
      if (caption) caption.textContent = data.captions[scene];
      if (notes) notes.replaceChildren(...data.notes[scene].map((text) => {
        const line = made("li", {});
        line.append(made("bdi", { textContent: text }));
        return line;
      }));
      slider.value = scene;
      slider.setAttribute("aria-valuetext", data.captions[scene]);
      count.value = `${scene + 1} of ${last + 1}`;
      back.disabled = scene === 0;
      on.disabled = scene === last;
    };
    const stop = () => {
      clearInterval(timer);
      timer = 0;
      play.textContent = "▶ Play";
    };
    const start = () => {
      if (scene === last) show(0);
      play.textContent = "❚❚ Pause";
      timer = setInterval(() => { show(scene + 1); if (scene === last) stop(); }, Math.max(80, Math.min(900, 90000 / last)));
    };
    const turn = (by) => { stop(); show(scene + by); };
    slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
    back.addEventListener("click", () => turn(-1));
    on.addEventListener("click", () => turn(1));
    play.addEventListener("click", () => timer ? stop() : start());
    // The arrows work on the whole board; on the slider they do so by themselves.
    stage.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === " " && event.target.tagName !== "BUTTON") play.click();
      else if (event.key === "ArrowLeft" && event.target !== slider) turn(-1);
      else if (event.key === "ArrowRight" && event.target !== slider) turn(1);
      else return;
      event.preventDefault();
    });
    bar.append(play, back, slider, on, count);
    stage.prepend(bar);
    stage.classList.add("live");
    stop();
    show(last);
  }
})();
