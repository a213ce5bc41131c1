// Usage: shoot.mjs PAGE PNG [STATE [SIZE [light|dark]]]: takes a picture of all of a page in Chromium, of a state as its
// address names it. Not a test: scripts/screenshots makes the pictures of the documentation with it.
import { writeFileSync } from 'node:fs';
import { Browser } from './browser.mjs';

const [page, png, state = '', size = '1200,800', mode = 'light'] = process.argv.slice(2);
const browser = await Browser.open('chromium', size);
try {
  const [width, height] = size.split(',').map(Number);
  await browser.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  await browser.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: mode }] });
  await browser.open(`${page}#${state}`);
  const { cssContentSize } = await browser.send('Page.getLayoutMetrics');
  const clip = { x: 0, y: 0, width: cssContentSize.width, height: cssContentSize.height, scale: 1 };
  const { data } = await browser.send('Page.captureScreenshot', { clip, captureBeyondViewport: true });
  writeFileSync(png, Buffer.from(data, 'base64'));
} finally {
  await browser.close();
}
