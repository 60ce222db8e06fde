"use strict";
// Puts the fragments of a run's stream in place. A round's section brings new events; any other element takes the
// place of the one with its id.
(() => {
  const address = document.body.dataset.stream, sign = document.getElementById("connection");
  if (!address) return;
  const say = (text, lost) => { sign.textContent = text; sign.classList.toggle("lost", lost); };

  // What the reader has opened stays open, and where the keyboard is it stays.
  const replace = (old, fresh) => {
    const opened = [...old.querySelectorAll("details")].map((part) => part.open);
    [...fresh.querySelectorAll("details")].forEach((part, place) => { if (opened[place]) part.open = true; });
    const stops = "a, button, input, select, summary, [tabindex]";
    const at = [...old.querySelectorAll(stops)].indexOf(document.activeElement);
    old.replaceWith(fresh);
    if (at >= 0) fresh.querySelectorAll(stops)[at]?.focus({ preventScroll: true });
  };
  const place = (fresh) => {
    const old = document.getElementById(fresh.id);
    if (!fresh.matches("section.round")) return void (old && replace(old, fresh));
    if (!old) return document.getElementById("list").append(fresh);
    old.querySelector(":scope > p.quiet")?.remove();
    for (const event of fresh.querySelectorAll("article.event")) if (!document.getElementById(event.id)) old.append(event);
  };

  // A journal that is read anew, as after a removal, has another epoch: what stands there is of the old one.
  const epochOf = (position) => position.split(".")[0];
  let last = new URL(address, location.href).searchParams.get("from") ?? "", source = null;
  const open = () => {
    source = new EventSource(address.replace(/from=[^&]*/, `from=${last}`));
    source.addEventListener("open", () => say("live", false));
    source.addEventListener("message", (message) => {
      if (epochOf(message.lastEventId) !== epochOf(last)) document.getElementById("list").replaceChildren();
      const box = document.createElement("template");
      box.innerHTML = message.data;
      for (const fresh of [...box.content.children]) place(fresh);
      last = message.lastEventId;
      document.dispatchEvent(new Event("grown"));
    });
    source.addEventListener("end", () => { source.close(); say("", false); });
    source.addEventListener("error", () => {
      say("connection lost; trying again", true);
      if (source.readyState === EventSource.CLOSED) setTimeout(open, 1000);
    });
  };
  open();
})();
