// Before the first paint: the theme that was chosen last, so that nothing flashes.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("novum-theme");
  } catch {
    // A browser that keeps nothing follows the system.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
