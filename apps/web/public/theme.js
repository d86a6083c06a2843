// Before the first paint, so that a page in the other theme does not flash. No inline script is allowed.
try {
  const theme = localStorage.getItem("loopwright.theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // Storage is switched off: the system decides.
}
