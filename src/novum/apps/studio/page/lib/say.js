// Words for people: what a screen reader is told, numbers, times.

// Announces a change that is not where the focus is.
export function say(text) {
  const live = document.getElementById("live");
  live.textContent = "";
  // The same sentence twice is told twice only if it was gone between.
  requestAnimationFrame(() => (live.textContent = text));
}

export function number(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US").replace("-", "−");
  const size = Math.abs(value);
  const text = size >= 1e6 || (size < 1e-4 && size > 0) ? value.toExponential(2) : Number(value.toPrecision(digits)).toLocaleString("en-US", { maximumFractionDigits: 8 });
  return text.replace("-", "−");
}

export const percent = (share, digits = 1) => (share === null || share === undefined || !Number.isFinite(share) ? "–" : `${(100 * share).toFixed(digits)} %`);

// "0.93 [0.90, 0.96]" of an estimate of a record.
export function estimate(one, digits = 3) {
  if (!one || one.value === null) return "–";
  const interval = one.low === null && one.high === null ? "" : ` [${number(one.low, digits)}, ${number(one.high, digits)}]`;
  return number(one.value, digits) + interval;
}

export function seconds(value) {
  const whole = Math.max(0, Math.round(value));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
}

export function bytes(value) {
  const units = ["B", "kB", "MB", "GB"];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit && size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}
