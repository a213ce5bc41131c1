// Where bars are: of a node and all below it, each as wide as its part of the whole. Above it are those that lead to
// it.

// Bars that are narrower than this are not drawn; the page says what they are.
export const MIN_PIXELS = 0.5;

// Those that woke have a graph of their own (wakers.mjs): they are drawn here only if one of them is what is zoomed to.
// {node, x, width, level: arrays, levels, hidden: {count, total}}; `hidden` counts the outermost of what is left out.
export function layOut(view, zoom, width) {
  const bars = { node: [], x: [], width: [], level: [], levels: 0, hidden: { count: 0, total: 0 } };
  const add = (node, x, barWidth, level) => {
    bars.node.push(node);
    bars.x.push(x);
    bars.width.push(barWidth);
    bars.level.push(level);
    bars.levels = Math.max(bars.levels, level + 1);
  };
  const above = [0, ...view.path(zoom)];
  above.forEach((node, level) => add(node, 0, width, level));
  const whole = view.weight[zoom];
  if (whole === 0) return bars;
  const scale = width / whole;
  const pending = [{ node: zoom, x: 0, level: above.length - 1 }];
  while (pending.length > 0) {
    const { node, x, level } = pending.pop();
    let at = x;
    for (const child of view.childrenOf(node)) {
      if (view.isWaker[child] > view.isWaker[zoom]) continue;
      const childWidth = view.weight[child] * scale;
      if (childWidth < MIN_PIXELS) {
        bars.hidden.count++;
        bars.hidden.total += view.weight[child];
        continue;
      }
      add(child, at, childWidth, level + 1);
      pending.push({ node: child, x: at, level: level + 1 });
      at += childWidth;
    }
  }
  return bars;
}

// The bar at a point, or -1. Bars of a level do not overlap.
export function barAt(bars, x, level) {
  for (let i = 0; i < bars.node.length; ++i) {
    if (bars.level[i] === level && x >= bars.x[i] && x < bars.x[i] + bars.width[i]) return i;
  }
  return -1;
}
