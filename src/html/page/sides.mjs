// What is shown, of all the time or of a span of it, and what that is compared with: another recording, another span,
// or nothing. Pure functions.
import { spanNs, spanSums, spanText } from './times.mjs';

// Puts the earlier one of two spans first: it is what was before.
function inOrder({ span, other }) {
  return span[0] < other[0] ? [span, other] : [other, span];
}

// {sums, before, beforeNs, afterNs}: figures as profile.sums, and how long both sides are; `before` is null where nothing
// is compared.
export function sidesOf(profile, state) {
  const { header } = profile;
  if (state.span === null) {
    const { sums, before } = profile;
    return { sums, before, beforeNs: header.before?.duration_ns, afterNs: header.duration_ns };
  }
  if (state.other === null) return { sums: spanSums(profile, state.span), before: null };
  const [before, after] = inOrder(state);
  return {
    sums: spanSums(profile, after),
    before: spanSums(profile, before),
    beforeNs: spanNs(profile, before),
    afterNs: spanNs(profile, after),
  };
}

// "before 16:10:52 to 16:10:55 UTC, 3.00 s, after 16:11:00 to 16:11:03 UTC, 3.00 s"; '' where all of it is shown.
export function sidesText(profile, state) {
  if (state.span === null) return '';
  if (state.other === null) return spanText(profile, state.span);
  const [before, after] = inOrder(state).map((span) => spanText(profile, span));
  return `before ${before}, after ${after}`;
}
