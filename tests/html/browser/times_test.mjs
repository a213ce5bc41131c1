// Usage: times_test.mjs PAGE: the heat map of the page that PageTest writes, in Chromium.
import { User } from './user.mjs';
import { heatMapSteps } from './when.mjs';

const user = await User.open(process.argv[2]);
await user.does({
  ...heatMapSteps(user, '5,200,000,008 ns'),
  async 'nothing was fetched, and nothing went wrong'() {
    user.expectsNothingWrong();
  },
});
