#!/usr/bin/env bash
# @iabtcf/core 1.5.6. Expected: `created` of a TC string is when the visitor first chose, `lastUpdated` when the choice last changed, both with the time of day.
# Seen: TCModel.updated() sets both to midnight UTC of the current day. The first choice is lost, and two choices of one day have the same time.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --ignore-scripts --no-audit --no-fund --no-package-lock @iabtcf/core@1.5.6
cat >check.mjs <<'JS'
import assert from 'node:assert/strict';
import { GVL, TCModel, TCString } from '@iabtcf/core';
const gvl = new GVL({ gvlSpecificationVersion: 3, vendorListVersion: 48, tcfPolicyVersion: 5, lastUpdated: '2026-11-19T16:00:00Z',
  purposes: { 1: { id: 1, name: 'Store', description: '', illustrations: [] } }, specialPurposes: {}, features: {}, specialFeatures: {}, stacks: {}, dataCategories: {}, vendors: {} });
const RealDate = Date;
const at = (time) => { globalThis.Date = class extends RealDate { constructor(...args) { super(...(args.length > 0 ? args : [time])); } }; };
const save = (text, purposes) => {
  const model = text === null ? new TCModel(gvl) : Object.assign(TCString.decode(text), { gvl });
  Object.assign(model, { cmpId: 999, cmpVersion: 1, isServiceSpecific: true });
  model.unsetAllPurposeConsents();
  model.purposeConsents.set(purposes);
  model.updated();
  return TCString.encode(model);
};
const timesOf = (text) => { const { created, lastUpdated } = TCString.decode(text); return { created: created.toISOString(), lastUpdated: lastUpdated.toISOString() }; };
at('2026-11-26T15:00:00.000Z');
const given = save(null, [1]);
at('2026-11-26T19:30:00.000Z');
const sameDay = save(given, []);
at('2026-11-27T09:30:00.000Z');
const nextDay = save(sameDay, []);
const seen = { 'given at 15:00': timesOf(given), 'withdrawn at 19:30': timesOf(sameDay), 'withdrawn again the next day at 9:30': timesOf(nextDay) };
console.log(seen);
const midnight = (day) => ({ created: `${day}T00:00:00.000Z`, lastUpdated: `${day}T00:00:00.000Z` });
assert.deepEqual(Object.values(seen), [midnight('2026-11-26'), midnight('2026-11-26'), midnight('2026-11-27')]);
JS
node check.mjs
