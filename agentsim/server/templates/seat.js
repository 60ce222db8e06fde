"use strict";
// A seat's page: the clock runs, a form is sent once, and a new question is announced in the title.
(() => {
  const title = document.title;
  const counted = (count, noun) => `${count} ${count === 1 ? noun : `${noun}s`}`;
  const look = () => {
    const part = document.getElementById("seat"), clock = part?.querySelector(".clock");
    document.title = part?.querySelector("input[name=seat-decision]") ? `Your turn: ${title}` : title;
    if (clock && !clock.dataset.ends) clock.dataset.ends = performance.now() + 1000 * Number(clock.dataset.left);
    for (const form of document.forms) {
      if (form.dataset.once) continue;
      form.dataset.once = "yes";
      form.addEventListener("submit", (event) => { if (form.dataset.sent) event.preventDefault(); form.dataset.sent = "yes"; });
    }
  };
  setInterval(() => {
    const clock = document.querySelector("#seat .clock");
    if (!clock) return;
    const left = Math.max(0, Math.round((Number(clock.dataset.ends) - performance.now()) / 1000));
    clock.textContent = left ? `You have ${counted(left, "second")}.` : "Your time is over.";
    clock.classList.toggle("short", left <= 10);
  }, 500);
  document.addEventListener("grown", look);
  // A page that comes out of the browser's memory may be old: what stands there was answered, or is over.
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  look();
  document.querySelector("#seat [aria-invalid=true], #seat [role=alert]")?.scrollIntoView({ block: "center" });
})();
