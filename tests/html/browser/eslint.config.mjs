// What eslint checks in the modules of the page and of its tests.
import globals from 'globals';
import js from '@eslint/js';

export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2022, sourceType: 'module' },
    rules: {
      eqeqeq: 'error',
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-new-func': 'error',
      'no-shadow': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
    },
  },
  { files: ['src/html/page/*.mjs'], languageOptions: { globals: globals.browser } },
  // Tests look for control characters.
  { files: ['tests/html/**/*.mjs'], languageOptions: { globals: globals.node }, rules: { 'no-control-regex': 'off' } },
];
