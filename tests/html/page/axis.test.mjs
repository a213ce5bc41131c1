// Marks of the time axis, columns shorter than a second, and where the words at the pointer stand.
import assert from 'node:assert/strict';
import test from 'node:test';
import { axisMarks, stepMs } from '../../../src/html/page/axis.mjs';
import { columnTime, spanText } from '../../../src/html/page/times.mjs';
import { columnsOf } from '../../../src/html/page/span.mjs';
import { tipPlace } from '../../../src/html/page/tip.mjs';

const SECOND = 1e9;
const known = { header: { start_unix_ns: '1790000000250000000', duration_ns: 2 * SECOND } }; // 14:13:20.250
const unknown = { header: { start_unix_ns: '0', duration_ns: 2 * SECOND } };

test('a step is the least round one with room for its marks', () => {
  assert.equal(stepMs(10 * SECOND, 10), 1000);
  assert.equal(stepMs(10 * SECOND, 9), 2000);
  assert.equal(stepMs(2 * SECOND, 10), 200);
  assert.equal(stepMs(SECOND / 64, 10), 2);
  assert.equal(stepMs(3600 * SECOND, 5), 900_000);
  assert.equal(stepMs(400 * 86_400 * SECOND, 4), 100 * 86_400_000);
  assert.equal(stepMs(SECOND, 0.2), 1000, 'there is room for one at least');
});

test('marks are at round times of the day', () => {
  assert.deepEqual(axisMarks(known, 0, 2 * SECOND, 4),
    [{ ns: 250e6, text: '14:13:20.5' }, { ns: 750e6, text: '14:13:21.0' }, { ns: 1250e6, text: '14:13:21.5' },
      { ns: 1750e6, text: '14:13:22.0' }]);
  assert.deepEqual(axisMarks(known, 0, 3 * SECOND, 3).map(({ text }) => text), ['14:13:21', '14:13:22', '14:13:23']);
});

test('or at round times since the start, if nobody knows when that was', () => {
  assert.deepEqual(axisMarks(unknown, 0, SECOND, 2), [{ ns: 0, text: '0 s' }, { ns: 500e6, text: '0.5 s' }]);
});

test('columns shorter than a second have times to the millisecond', () => {
  const times = { columnNs: SECOND / 64, beginNs: 0 };
  assert.equal(columnTime({ ...known, times }, 0), '14:13:20.250');
  assert.equal(columnTime({ ...known, times }, 3), '14:13:20.297', '46.875 ms later');
  assert.equal(columnTime({ ...known, times: { columnNs: SECOND, beginNs: 0 } }, 1), '14:13:21');
  assert.equal(spanText({ ...known, times }, [0, 64]), '14:13:20.250 to 14:13:21.250 UTC, 1.00 s');
});

test('a span of seconds is the columns that it lies in, and what fields show of a column is that column', () => {
  const seconds = 1 / 64;
  for (let column = 0; column < 640; ++column) {
    const shown = [column, column + 1].map((at) => Number((at * seconds).toFixed(3)));
    assert.deepEqual(columnsOf(...shown, seconds, 640), [column, column + 1]);
  }
  assert.deepEqual(columnsOf(2, 5, 1, 10), [2, 5]);
  assert.deepEqual(columnsOf(2.3, 4.1, 1, 10), [2, 5]);
  assert.deepEqual(columnsOf(-5, 99, 1, 10), [0, 10]);
  assert.deepEqual(columnsOf(7, 3, 1, 10), [7, 8]);
});

test('words at the pointer stay in the window, and leave the pointer free', () => {
  const place = (clientX, clientY, size = { width: 200, height: 60 }) => tipPlace({ clientX, clientY }, size, 1000, 800);
  assert.deepEqual(place(100, 100), { left: 114, top: 114 });
  assert.deepEqual(place(900, 780), { left: 686, top: 706 });
  assert.deepEqual(place(30, 100, { width: 990, height: 60 }), { left: 6, top: 114 });
});
