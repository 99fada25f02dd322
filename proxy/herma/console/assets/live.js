// Replaces the parts of the page as the gate writes them anew. Without it the page is as whole, but as old as its last loading.
"use strict";

const said = document.getElementById("live");
const source = new EventSource("/console/live");

function tell(text) {
  if (said.textContent !== text) said.textContent = text;
}

source.addEventListener("open", () => tell("Live."));

source.addEventListener("parts", (event) => {
  const focused = document.activeElement ? document.activeElement.id : "";
  for (const [name, html] of Object.entries(JSON.parse(event.data))) {
    const part = document.getElementById(name);
    if (!part) continue;
    const open = Array.from(part.querySelectorAll("details"), (one) => one.open);
    // The gate has escaped all that it did not write itself.
    part.innerHTML = html;
    part.querySelectorAll("details").forEach((one, at) => { one.open = Boolean(open[at]); });
  }
  if (focused && document.activeElement.id !== focused) document.getElementById(focused)?.focus({ preventScroll: true });
});

source.addEventListener("ended", () => {
  source.close();
  said.innerHTML = 'Your session is over: <a href="/console/login">sign in again</a>.';
});

source.addEventListener("error", () => {
  tell(source.readyState === EventSource.CLOSED ? "Not live any more: load this page again." : "Connection lost, trying again.");
});
