// The page of the service: where to get it anew, and what it shows as files. The service has windows of some seconds
// to minutes: what it gives for a span are those that have something of it.

// Addresses beside that of the page, of the seconds that a span lies in; of all of it if there is none.
export function liveLinks({ header, times }, span) {
  const start = BigInt(header.start_unix_ns);
  let from = start;
  let to = start + BigInt(Math.round(header.duration_ns));
  if (span !== null) {
    const at = (column) => start + BigInt(Math.round(times.beginNs + column * times.columnNs));
    [from, to] = [at(span[0]), at(span[1])];
  }
  const second = 1000000000n;
  const which = `since=${from / second}&until=${to / second + 1n}`;
  return {
    now: 'live',
    span: `live?${which}`,
    file: `live?download=1&${which}`,
    pprof: `debug/pprof/offcpu?${which}`,
  };
}

export function showLinks(profile, nav, span) {
  const links = liveLinks(profile, span);
  for (const [name, address] of Object.entries(links)) nav.querySelector(`[data-link=${name}]`).href = address;
  nav.querySelector('[data-link=span]').parentElement.hidden = span === null;
}
