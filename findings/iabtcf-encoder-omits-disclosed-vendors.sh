#!/bin/sh
# @iabtcf/core 1.5.6 (npm, latest there in November 2026), Node 20.
# Expected: TCString.encode() of a service-specific model with policy version 5 and disclosed vendors writes the
#   disclosed-vendors segment, which TCF 2.3 makes mandatory (Consent string and vendor list formats v2, April 2025).
# Seen: the segment is left out without an error; decoding the string gives no disclosed vendors. Only
#   SegmentEncoder.encode(model, 'vendorsDisclosed') writes it, and decode() reads it.
# Exits 0 while that is so, 1 if it changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @iabtcf/core@1.5.6
cat >see.mjs <<'EOF'
import { GVL, Segment, SegmentEncoder, TCModel, TCString } from '@iabtcf/core';
const vendor = (id) => ({ id, name: `v${id}`, purposes: [1], legIntPurposes: [], flexiblePurposes: [], specialPurposes: [], features: [], specialFeatures: [] });
const model = new TCModel(new GVL({
  gvlSpecificationVersion: 3, vendorListVersion: 120, tcfPolicyVersion: 5, lastUpdated: '2026-01-01T00:00:00Z',
  purposes: { 1: { id: 1 } }, specialPurposes: {}, features: {}, specialFeatures: {}, stacks: {},
  vendors: { 1: vendor(1), 2: vendor(2) },
}));
Object.assign(model, { cmpId: 300, cmpVersion: 4, consentScreen: 1, isServiceSpecific: true });
model.purposeConsents.set(1);
model.vendorConsents.set(1);
model.vendorsDisclosed.set([1, 2]);
const text = TCString.encode(model);
const segments = text.split('.').slice(1).map((one) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef'.indexOf(one[0]) >> 3);
const decoded = TCString.decode(text);
console.log(text);
console.log('policy version', decoded.policyVersion, 'segments after the core (1 = disclosed vendors):', segments, 'disclosed:', decoded.vendorsDisclosed.size);
const whole = `${text}.${SegmentEncoder.encode(model, Segment.VENDORS_DISCLOSED)}`;
console.log('with the segment added by hand, disclosed:', TCString.decode(whole).vendorsDisclosed.size);
process.exit(!segments.includes(1) && decoded.vendorsDisclosed.size === 0 && TCString.decode(whole).vendorsDisclosed.size === 2 ? 0 : 1);
EOF
node see.mjs
