#!/bin/sh
# @iabgpp/cmpapi 3.2.0 (npm), Node 20.
# Expected: for a US section without its optional GPC subsection, the field Gpc is absent or null ("not stated").
# Seen: getFieldValue('usnat', 'Gpc') and hasField are the same (false, true) as for a string whose subsection says
#   that GPC is off. Only GpcSegmentIncluded, which no specification names, tells them apart.
# Exits 0 while that is so, 1 if it changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @iabgpp/cmpapi@3.2.0
cat >see.mjs <<'EOF'
import { GppModel } from '@iabgpp/cmpapi';
const read = (text) => {
  const model = new GppModel(text);
  return { text, gpc: model.getFieldValue('usnat', 'Gpc'), has: model.hasField('usnat', 'Gpc'), included: model.getFieldValue('usnat', 'GpcSegmentIncluded') };
};
const [missing, off] = [read('DBABLA~BVVqAAAAAWA'), read('DBABLA~BVVqAAAAAWA.QA')];
console.log('subsection missing:', missing);
console.log('subsection says off:', off);
process.exit(missing.gpc === false && off.gpc === false && missing.has && off.has && missing.included === false && off.included === true ? 0 : 1);
EOF
node see.mjs
