import { describe, expect, it } from 'vitest';
import { waitFromHeaders } from '../../src/service/rate-limit.ts';

const now = Date.parse('2026-07-01T10:00:00Z');
const wait = (headers: Record<string, string>) => waitFromHeaders(new Headers(headers), now);

describe('the wait that the service requests', () => {
  it('is read from Retry-After in seconds or as a date', () => {
    expect(wait({ 'retry-after': '3' })).toBe(3000);
    expect(wait({ 'retry-after': '0.5' })).toBe(500);
    expect(wait({ 'retry-after': 'Wed, 01 Jul 2026 10:00:30 GMT' })).toBe(30_000);
    expect(wait({ 'retry-after': 'Wed, 01 Jul 2026 09:00:00 GMT' })).toBe(0);
  });

  it('is read from the common spellings of a reset time', () => {
    expect(wait({ 'retry-after-ms': '120' })).toBe(120);
    expect(wait({ 'ratelimit-reset': '12' })).toBe(12_000);
    expect(wait({ 'x-ratelimit-reset': String(now / 1000 + 9) })).toBe(9000);
    expect(wait({ 'x-ratelimit-reset': String(now + 9000) })).toBe(9000);
    expect(wait({ 'x-rate-limit-reset': '2026-07-01T10:01:00Z' })).toBe(60_000);
    expect(wait({ 'x-ratelimit-reset-after': '1.5' })).toBe(1500);
    expect(wait({ 'x-ratelimit-reset': '1h6m0.5s' })).toBe(3_960_500);
    expect(wait({ 'x-ratelimit-reset': '20s' })).toBe(20_000);
    expect(wait({ 'retry-after': '7, 7' })).toBe(7000);
    expect(wait({ ratelimit: '"bulk";r=0;t=30' })).toBe(30_000);
    expect(wait({ ratelimit: '"minute";r=0;t=12, "day";r=0;t=3600' })).toBe(3_600_000);
    expect(wait({ ratelimit: 'limit=20, remaining=0, reset=7' })).toBe(7000);
    expect(wait({ ratelimit: '"offset=9";r=0' })).toBeNull();
  });

  it('is counted from the Date of the response, so a wrong local clock does no harm', () => {
    const date = 'Wed, 01 Jul 2026 12:00:00 GMT';
    expect(wait({ date, 'retry-after': 'Wed, 01 Jul 2026 12:00:30 GMT' })).toBe(30_000);
    expect(wait({ date, 'x-ratelimit-reset': String(now / 1000 + 7200 + 9) })).toBe(9000);
    expect(wait({ date: 'today', 'retry-after': 'Wed, 01 Jul 2026 10:00:30 GMT' })).toBe(30_000);
    expect(wait({ date, 'retry-after': '3' })).toBe(3000);
  });

  it('is a day at most', () => {
    for (const headers of [{ 'retry-after': '9'.repeat(30) }, { 'x-ratelimit-reset': '2099-01-01' }])
      expect(wait(headers)).toBe(86_400_000);
  });

  it('is unknown if no readable header states it', () => {
    expect(wait({})).toBeNull();
    expect(wait({ 'retry-after': 'soon', 'ratelimit-reset': 'never' })).toBeNull();
  });
});
