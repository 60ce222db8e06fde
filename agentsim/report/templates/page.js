"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (some, from = document) => [...from.querySelectorAll(some)];
  const made = (tag, parts) => Object.assign(document.createElement(tag), parts);
  const counted = (count, noun) => `${count.toLocaleString("en")} ${count === 1 ? noun : `${noun}s`}`;
  const typing = (event) => event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey;
  const form = byId("filters"), find = byId("find"), tally = byId("tally"), showAll = byId("show-all");
  const selects = { player: byId("by-player"), kind: byId("by-kind") };
  const bySight = byId("by-sight"), byRound = byId("by-round"), view = byId("as-seen-by"), oneView = byId("one-view");
  const deep = byId("deep"), whole = byId("whole"), timeline = byId("timeline"), list = byId("list"), pane = byId("pane");
  let quiet, exchanges, spokenIn, ofAll, events, rounds, turns, last, allTurns = false;
  // A page that is served grows while it stands open: see `grown`.
  const collect = () => {
    quiet = all("#silent article.event");
    exchanges = all("#split .exchange");
    spokenIn = [...new Set(exchanges.map((part) => Number(part.dataset.turn)))];
    ofAll = ["standings", "course", "turns", "example", "players", "panels", "split", "scenario", "usage"].map(byId).filter(Boolean);
    events = all("#list article.event");
    rounds = all("#list section.round");
    turns = rounds.map((round) => Number(round.dataset.turn));
    last = turns.length - 1;
  };
  collect();
  const shownOf = (event) => event.classList.contains("others") ? told(event) : deep.checked ? textOf(event) : told(event);
  const texts = new Map(), told_ = new Map(), opened = new Set();
  const fold = (text) => text.normalize("NFKC").toLowerCase();
  const kept = (map, node, make) => {
    if (!map.has(node)) map.set(node, fold(make(node)));
    return map.get(node);
  };
  const textOf = (node) => kept(texts, node, (from) => from.textContent);
  const told = (event) => kept(told_, event, (from) => [".role .who", "h4", ":scope > .badges", ":scope > .said"]
    .map((part) => from.querySelector(part)?.textContent ?? "").join("\n"));
  const times = (text, query) => text.split(query).length - 1;

  // Marks the words found without touching the document; a browser that cannot does without.
  const highlight = (shown, query) => {
    if (!("highlights" in CSS)) return;
    CSS.highlights.delete("found");
    if (query.length < 2) return;
    const ranges = [];
    for (const part of shown) {
      const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
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
    const asked = (event) => event.dataset.asked ?? event.dataset.player ?? "";
    const seenBy = (event) => event.dataset.seen ?? (event.classList.contains("public") ? viewer : asked(event));
    const sees = (event) => !viewer || seenBy(event).split(" ").includes(viewer);
    for (const event of [...events, ...quiet]) event.classList.toggle("others", Boolean(viewer) && asked(event) !== viewer);
    for (const event of quiet) event.hidden = !sees(event);
    for (const part of ofAll) part.hidden = Boolean(viewer);
    if (oneView) oneView.hidden = !viewer;
    return sees;
  };

  const apply = () => {
    const query = fold(find.value.trim());
    const wanted = Object.entries(selects).filter(([, select]) => select.value);
    const sees = look(), shown = [];
    let hits = 0;
    for (const part of opened) part.open = false;
    opened.clear();
    for (const event of events) {
      const fits = wanted.every(([key, select]) => event.dataset[key] === select.value)
        && (!bySight.value || event.classList.contains(bySight.value))
        && sees(event) && (!byRound?.value || event.parentElement.id === byRound.value)
        && (!query || shownOf(event).includes(query));
      event.hidden = !fits;
      if (!fits) continue;
      shown.push(event);
      if (query) hits += times(shownOf(event), query);
    }
    const narrowed = query !== "" || wanted.length > 0 || Boolean(bySight.value || byRound?.value || view?.value);
    for (const part of exchanges) {
      const found = query !== "" && textOf(part).includes(query);
      part.hidden = query !== "" && !found;
      part.classList.toggle("found", found);
    }
    for (const round of rounds) round.hidden = narrowed && events.length > 0 && !round.querySelector("article.event:not([hidden])");
    // What was found only inside a fold would look like a mistake: such a fold opens.
    if (query && deep.checked) for (const event of shown.slice(0, 500)) for (const part of all(".folds details:not([open])", event)) {
      if (!event.classList.contains("others") && textOf(part).includes(query)) {
        part.open = true;
        opened.add(part);
      }
    }
    timeline.classList.toggle("searching", query !== "");
    const of = shown.length === events.length ? "" : `${shown.length.toLocaleString("en")} of `;
    tally.value = of + counted(events.length, "event") + (query ? `, ${counted(hits, "hit")}` : "");
    showAll.hidden = !narrowed;
    if (chosen?.hidden || view?.value) choose(null);
    highlight([...shown, ...exchanges.filter((part) => !part.hidden)], query);
  };

  // The chosen event stands whole in the pane, with its prompt, reasoning, reply and data unfolded.
  let chosen = null;
  // On a very long page only the chosen event says the command that forks at its decision.
  const forked = (event) => {
    const at = event.querySelector(":scope > .at");
    if (!at || at.firstElementChild || !timeline.dataset.fork) return;
    at.append(", ", made("code", { textContent: `${timeline.dataset.fork} ${at.textContent.match(/\d+/)[0]}` }));
  };
  const choose = (event) => {
    chosen?.classList.remove("chosen");
    chosen = event;
    if (event) forked(event);
    const copy = event?.cloneNode(true);
    if (copy) {
      event.classList.add("chosen");
      copy.removeAttribute("id");
      for (const part of all("details", copy)) part.open = true;
    }
    pane.replaceChildren(copy ?? made("p", { className: "quiet", textContent: "Select an event for details." }));
    if (copy) pane.scrollTop = 0; // which lays out the page
  };
  const inList = (node) => {
    if (!timeline.classList.contains("rows")) return node.scrollIntoView({ block: "nearest" });
    const head = node.closest(".round")?.firstElementChild.offsetHeight ?? 0, top = node.offsetTop - head;
    if (node.matches(".round")) list.scrollTop = node.offsetTop;
    else if (top < list.scrollTop) list.scrollTop = top;
    else if (node.offsetTop + node.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = node.offsetTop + node.offsetHeight - list.clientHeight;
  };
  list.addEventListener("click", (event) => {
    const row = event.target.closest("article.event");
    if (row && !event.target.closest("a, summary")) choose(row);
  });
  list.tabIndex = 0;
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || typing(event) || !timeline.classList.contains("rows")) return;
    event.preventDefault();
    const there = events.filter((each) => !each.hidden), next = there[chosen ? there.indexOf(chosen) + by : 0];
    if (next) { choose(next); inList(next); }
  });
  const dense = () => { timeline.classList.toggle("rows", !whole.checked); pane.hidden = whole.checked; };

  let waiting = 0;
  const soon = () => {
    if (events.length <= 500) return apply();
    clearTimeout(waiting);
    waiting = setTimeout(apply, 200);
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  showAll.addEventListener("click", () => { form.reset(); dense(); apply(); });
  find.addEventListener("input", soon);
  whole.addEventListener("change", dense);
  for (const part of [...Object.values(selects), bySight, byRound, view, deep]) part?.addEventListener("change", apply);
  dense();
  choose(null);
  apply();

  // Networks: the one that is pointed at, alone with the arcs that begin or end there; a click keeps it.
  const network = (web) => {
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
  };

  // One cursor in time: a round of the log, which boards, charts, transcript and address show.
  const bar = byId("cursor");
  let timed = [], turn = last;
  const placeOf = (index, of) => {
    let found = 0;
    of.forEach((each, place) => { if (each <= index) found = place; });
    return found;
  };
  const go = (place, by) => {
    turn = Math.max(0, Math.min(last, place));
    timed = timed.filter((each) => each.node.isConnected);
    for (const each of timed) if (each.show !== by) each.show(turns[turn]);
    for (const part of all(".now")) part.classList.remove("now");
    rounds[turn].classList.add("now");
    const spoken = spokenIn[placeOf(turns[turn], spokenIn)];
    for (const part of exchanges) if (Number(part.dataset.turn) === spoken) part.classList.add("now");
    if (by !== null) {
      history.replaceState(null, "", `#turn=${turns[turn]}`);
      inList(rounds[turn]);
      const there = all("article.event:not([hidden])", rounds[turn]);
      if (!pane.hidden && there.length && !(chosen && rounds[turn].contains(chosen))) choose(there.find((each) => each.querySelector(".reasoning")) ?? there[0]);
    }
  };
  const chart = (svg) => {
    const { start, band, rounds: of } = svg.dataset, known = of.split(" ").map(Number);
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("class", "now-line");
    svg.append(line);
    const at = (place) => Number(start) + (place + .5) * Number(band);
    timed.push({ node: svg, show: (index) => line.setAttribute("d", `M${at(placeOf(index, known))} 10V${svg.dataset.foot}`) });
    svg.addEventListener("click", (event) => {
      const spot = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const place = Math.max(0, Math.min(known.length - 1, Math.floor((spot.x - Number(start)) / Number(band))));
      go(placeOf(known[place], turns));
    });
  };
  // Buttons and a slider: for the cursor, and for a board whose scenes are no rounds.
  const stepper = (bar, end, show) => {
    let at = end, timer = 0;
    const [play, back, on] = ["play", "", ""].map((className) => made("button", { type: "button", className }));
    const slider = made("input", { type: "range", min: 0, max: end }), count = made("output", {});
    const speed = made("select", { className: "speed" });
    for (const times of [.25, .5, 1, 2, 4]) speed.append(made("option", { value: times, textContent: `${times}×`, selected: times === 1 }));
    back.textContent = "‹";
    on.textContent = "›";
    for (const [part, label] of [[back, "Back"], [on, "Next"], [slider, "Step"], [speed, "Speed"]]) part.setAttribute("aria-label", label);
    const set = (place, said) => {
      at = place;
      slider.value = at;
      slider.setAttribute("aria-valuetext", said);
      count.value = bar.id ? said : `${at + 1} of ${end + 1}`;
      back.disabled = at === 0;
      on.disabled = at === end;
    };
    const stop = () => { clearInterval(timer); timer = 0; play.textContent = "▶ Play"; };
    const turn = (by) => { stop(); show(Math.max(0, Math.min(end, at + by))); };
    slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
    back.addEventListener("click", () => turn(-1));
    on.addEventListener("click", () => turn(1));
    play.addEventListener("click", () => {
      if (timer) return stop();
      if (at === end) show(0);
      play.textContent = "❚❚ Pause";
      run();
    });
    const run = () => {
      clearInterval(timer);
      timer = setInterval(() => {
        if (!bar.isConnected) return stop();
        show(at + 1);
        if (at === end) stop();
      }, Math.max(80, Math.min(900, 90000 / end)) / Number(speed.value));
    };
    speed.addEventListener("change", () => { if (timer) run(); });
    bar.append(play, back, slider, on, count, speed);
    stop();
    const upto = (place) => { slider.max = end = place; };
    return { set, turn, play, slider, upto };
  };
  // To the next event of a kind: a vote, a trade, an elimination.
  const jump = made("select", { className: "kinds" }), toNext = made("button", { type: "button", textContent: "Jump to" });
  const offer = (select, value, text) => {
    const known = offer.of.get(select) ?? new Set([...select?.options ?? []].map((option) => option.value));
    offer.of.set(select, known);
    if (!select || value === undefined || known.has(value)) return;
    known.add(value);
    select.append(made("option", { value, textContent: text() }));
  };
  offer.of = new Map();
  const labels = JSON.parse(form.dataset.labels);
  const labelOf = (kind) => {
    const label = labels[kind] ?? kind.replaceAll("_", " ");
    return label.charAt(0).toUpperCase() + label.slice(1);
  };
  const kinds = () => {
    for (const event of events) {
      const { kind, player } = event.dataset;
      for (const select of [selects.kind, jump]) offer(select, kind, () => labelOf(kind));
      offer(selects.player, player, () => event.querySelector(".role .who")?.textContent);
      offer(byRound, event.parentElement.id, () => event.parentElement.querySelector("h3").textContent);
    }
  };
  toNext.addEventListener("click", () => {
    const there = events.filter((event) => !event.hidden), from = chosen ? there.indexOf(chosen) + 1 : 0;
    const next = there.find((event, place) => place >= from && event.dataset.kind === jump.value
      && (chosen || rounds.indexOf(event.parentElement) >= (turn === last ? 0 : turn)));
    if (!next) return void (toNext.title = "There is no later one yet");
    toNext.title = "";
    go(rounds.indexOf(next.parentElement), null);
    choose(next);
    inList(next);
    if (whole.checked) next.scrollIntoView({ block: "center" });
  });
  let steps = null;
  if (bar) {
    steps = stepper(bar, last, (place) => go(place));
    timed.push({ node: bar, show: () => steps.set(turn, rounds[turn].querySelector("h3").textContent) });
    jump.setAttribute("aria-label", "Kind of event");
    bar.append(toNext, jump);
    const marks = made("datalist", { id: "leads" });
    for (const lead of bar.dataset.leads.split(" ").filter(Boolean)) marks.append(made("option", { value: turns.indexOf(Number(lead)) }));
    bar.append(marks);
    steps.slider.setAttribute("list", "leads");
    bar.hidden = false;
    document.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by || typing(event) || event.defaultPrevented) return;
      event.preventDefault();
      steps.turn(by);
    });
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
  const board = (stage) => {
    const data = JSON.parse(stage.querySelector(".scenes").content.textContent);
    const end = data.captions.length - 1, timely = !data.rounds.includes(null) && Boolean(bar);
    const [spaces, pieces, cells] = [".space", ".piece", ".middle tbody bdi"].map((some) => all(some, stage));
    const caption = stage.querySelector(".caption bdi"), notes = stage.querySelector(".notes");
    const forms = spaces.map(() => -1), own = made("div", { className: timely ? "stepper double" : "stepper" });
    const show = (scene) => {
      data.tiles.forEach((track, index) => {
        const form = at(track, scene);
        if (form !== forms[index]) spaces[index].innerHTML = data.forms[forms[index] = form];
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
      steps.set(scene, data.captions[scene]);
    };
    const mine = (index) => show(placeOf(index, data.rounds));
    const steps = stepper(own, end, (scene) => {
      show(scene);
      if (timely) go(placeOf(data.rounds[scene], turns), mine);
    });
    if (timely) timed.push({ node: stage, show: mine });
    // The arrows work on the whole board; on the slider they do so by themselves.
    stage.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === " " && event.target.tagName !== "BUTTON") steps.play.click();
      else if (by && event.target !== steps.slider) steps.turn(by);
      else return;
      event.preventDefault();
    });
    stage.prepend(own);
    stage.classList.add("live");
    show(end);
  };
  // Words and thoughts of the cursor's turn, or of the last before it that has any; where a switch says so, all of them.
  const split = (section) => {
    const choice = byId("follow"), box = choice.firstElementChild;
    const follows = () => section.classList.toggle("following", !(allTurns = box.checked));
    if (spokenIn.length < 2) return;
    box.checked = allTurns;
    choice.hidden = false;
    choice.addEventListener("change", follows);
    follows();
  };
  const dressed = new WeakSet();
  const dress = () => {
    for (const [some, figure] of [[".web", network], ["svg.timed", chart], [".stage:has(> .scenes)", board], ["section#split", split]]) {
      for (const node of all(some)) if (!dressed.has(node)) { dressed.add(node); figure(node); }
    }
    kinds();
  };
  dress();
  if (rounds.length) go(last, null);
  let growing = 0;
  const grow = () => {
    growing = 0;
    const followed = turn === last || turn < 0, was = chosen?.id;
    collect();
    dress();
    if (was && !chosen.isConnected) choose(byId(was));
    if (rounds.length && bar) { steps.upto(last); go(followed ? last : turn, null); }
    apply();
  };
  // One look for what comes within a short time: a long transcript takes a while to look through.
  document.addEventListener("grown", () => { growing ||= setTimeout(grow, events.length > 500 ? 300 : 0); });

  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !typing(event)) {
      event.preventDefault();
      find.focus();
      find.select();
    } else if (event.key === "Escape" && event.target === find) {
      find.value = "";
      apply();
      find.blur();
    }
  });

  // A link to a turn moves the cursor; one to an event that is filtered away, or inside a closed fold, shows it.
  const arrive = () => {
    const asked = /^#turn=(\d+)$/.exec(location.hash);
    if (asked) return void (rounds.length && go(placeOf(Number(asked[1]), turns)));
    const target = location.hash.length > 1 && byId(location.hash.slice(1));
    if (!target) return;
    if (target.closest("[hidden]")) { form.reset(); dense(); apply(); }
    for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    if (list.contains(target)) {
      const round = target.closest(".round");
      go(rounds.indexOf(round), null);
      if (target !== round) choose(target);
      timeline.scrollIntoView();
      inList(target);
    } else target.scrollIntoView();
  };
  addEventListener("hashchange", arrive);
  arrive();
})();
