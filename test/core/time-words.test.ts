import { expect, it } from 'vitest';
import { dateText, momentText } from '../../src/core/time-words.ts';

it('every month is written with three letters, as in the text of a deadline', () => {
  for (let month = 1; month <= 12; month += 1) {
    const date = `2026-${String(month).padStart(2, '0')}-09`;
    expect(dateText(date)).toMatch(/^9 [A-Z][a-z]{2} 2026$/);
    expect(momentText(`${date}T10:05:00Z`, 'UTC')).toMatch(/^9 [A-Z][a-z]{2} 2026, 10:05$/);
  }
});
