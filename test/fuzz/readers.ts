import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { diagnoseSignature } from '../../receivers/diagnose.ts';
import { discover } from '../../receivers/discover/discover.ts';
import { parseTime } from '../../receivers/occurred.ts';
import { decisionIdOf, eventNameOf, readConsentRow, readDelivery } from '../../receivers/read.ts';
import { contradictsRecord } from '../../receivers/signals/contradictions.ts';
import { decodeSignals } from '../../receivers/signals/decode.ts';
import { SIGNATURE_256_HEADER, SIGNATURE_HEADER, verifySignature } from '../../receivers/signature-node.ts';
import { readZip } from '../../src/archives/zip.ts';
import { shownName, sniffMediaType } from '../../src/banners/evidence.ts';
import { type MoveName, moves, readMove } from '../../src/cases/moves.ts';
import { durationFrom } from '../../src/commands/command-io.ts';
import { answerLine } from '../../src/commands/deadline.ts';
import { loadConfig } from '../../src/config/config.ts';
import { parseInstanceKey, parseSigningKey } from '../../src/config/key-files.ts';
import { parseControllerProfile, parseYaml } from '../../src/config/settings-files.ts';
import { addressGroup, serviceOriginOf, serviceRootOf, withoutPasswords } from '../../src/core/address.ts';
import { UsageError } from '../../src/core/errors.ts';
import { sourceOptionsSchema } from '../../src/core/source.ts';
import { isSharedMailbox, subjectForms, subjectOfEmail } from '../../src/core/subject.ts';
import { parseVerifierKey, readCheckpoint, verifierKeyOf } from '../../src/crypto/checkpoint.ts';
import { openSealed } from '../../src/crypto/keys.ts';
import { attachment } from '../../src/http/pages/parts/attachment.ts';
import { readFields } from '../../src/http/pages/parts/fields.tsx';
import { cronProblem } from '../../src/jobs/schedule.ts';
import { mapJurisdiction, nearJurisdictions } from '../../src/law/jurisdictions.ts';
import { regimesFileSchema } from '../../src/law/regime-schema.ts';
import { createRegimeTable } from '../../src/law/regime-table.ts';
import { cosignedAt } from '../../src/ledger/cosignature.ts';
import { createJournal } from '../../src/ledger/journal.ts';
import { findNotes } from '../../src/ledger/verify/outside-checkpoints.ts';
import { parseWitnessPolicy } from '../../src/ledger/witness-policy.ts';
import { readVersions } from '../../src/outside/bucket.ts';
import { parseBulkItems } from '../../src/policies/bulk-file.ts';
import { diffTexts } from '../../src/policy-snapshots/stored-texts.ts';
import { readPolicyText } from '../../src/policy-texts/policy-text.ts';
import { cleanText, linkOf, readEnvelope, withoutToken } from '../../src/service/answer-json.ts';
import { readPage } from '../../src/service/consent-logs.ts';
import { toolError, toToolArguments } from '../../src/service/mcp.ts';
import { findGoneIn } from '../../src/service/openapi.ts';
import { readBulkResult, readGenerated, readLinks, readPublished } from '../../src/service/policies.ts';
import { waitFromHeaders } from '../../src/service/rate-limit.ts';
import { ServiceError } from '../../src/service/service-error.ts';
import { readImportCsv } from '../../src/sources/import/read-csv.ts';
import { readImportLines } from '../../src/sources/import/read-lines.ts';
import { createRowReader, rowNamesOf } from '../../src/sync/row.ts';
import { zipBytes } from '../archives/zip-bytes.ts';

/** One reader of bytes that come from outside. */
export interface Reader {
  readonly name: string;
  /** Its result for the bytes: a value, or an error that `refuses` recognises. */
  readonly run: (bytes: Buffer) => unknown;
  /** Texts that it understands, so mutations of them get far. */
  readonly corpus: readonly string[];
  /** Whether an error is the reader's documented refusal; if left out, the reader never throws. */
  readonly refuses?: (error: unknown) => boolean;
  /** The largest size that reaches it, in bytes; default 1 MiB, the largest delivery. */
  readonly most?: number;
  /** Its strings become part of entries, whose canonical JSON refuses lone surrogates. */
  readonly stored?: true;
}

const RECEIVED = '2026-07-01T12:00:00.000Z';
const options = sourceOptionsSchema.parse({});
const context = { receivedAt: RECEIVED, options };
const named = {
  receivedAt: RECEIVED,
  options: {
    ...options,
    fieldNames: { event: ['meta.kind'], subject: ['who.key'] },
    eventNames: { hop: 'dsar.submitted' },
  },
};
const SECRET = { id: 'one', value: 'a-signing-secret' };
const ofService = (error: unknown) => error instanceof ServiceError;
const usage = (error: unknown) => error instanceof UsageError;
const text = (bytes: Buffer) => bytes.toString('utf8');
const jsonOf = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(text(bytes)) as unknown;
  } catch {
    return undefined;
  }
};
const KIB = 1024;
const MIB = KIB * KIB;

const decision =
  '{"event":"consent.recorded","id":"evt_1","created_at":"2026-07-01T11:59:00Z","data":{"banner_id":"bnr_1","consent_id":"c1","visitor_hash":"' +
  'ab'.repeat(32) +
  '","status":"partial","purposes":{"analytics":true,"marketing":{"granted":false}},"policy_version":3,"region":"DE-BY","page":"https://a.example/x?y=1","consent_mode":{"ad_storage":"denied"}}}';
const request =
  '{"type":"dsar.submitted","payload":{"request":{"id":12345678901234567890,"email":"a@example.org","name":"Ann","type":"access","message":"Please.","jurisdiction":"US-CA","submitted_at":1782907200}}}';
const row =
  '{"id":"r1","banner_id":"bnr_1","subject":"' +
  'cd'.repeat(32) +
  '","choices":[{"name":"analytics","granted":true},"marketing"],"rejected":"social, video","created_at":"2026-07-01 10:00","tcf":"CP-x"}';
const page = `{"data":[${row},{"id":1.50,"n":12345678901234567890}],"next_cursor":"eyJ"}`;
const policies =
  '{"count":2,"policies":[{"id":"p1","policy_type":"privacy-policy","url":"https://h.example/p?token=t"},{"id":2,"url":null}]}';
const description = JSON.stringify({
  openapi: '3.1.0',
  paths: {
    '/api/v1/consent/logs': {
      parameters: [{ $ref: '#/components/parameters/banner' }],
      get: {
        parameters: [{ name: 'limit', in: 'query', schema: { anyOf: [{ maximum: 200 }, { $ref: '#/components/x' }] } }],
        responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Page' } } } } },
      },
    },
    '/policies/{id}/publish': { post: { responses: { default: { content: {} } } } },
  },
  components: {
    parameters: { banner: { name: 'banner_id', in: 'query' } },
    schemas: { Page: { allOf: [{ properties: { data: {} } }, { $ref: '#/components/schemas/Page' }] } },
  },
});
const hosted =
  '<!doctype html><html><head><title>x</title></head><body><!-- c --><h1>Privacy</h1><p>We &amp; you &#x41; <a href="https://a.example/x?token=1">link</a></p><table><tr><td>a<td>b</table><ul><li>one<li>two</ul><script>x</script></body></html>';
const note =
  'consent-ledger/9f2c/1\n17\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\n\n— consent-ledger/9f2c/1 q6urq6urq6urq6urq6ur\n';
const caseLine =
  '{"id":"x","kind":"access","received":"2026-03-05","place":"DE","controller":{"country":"DE","region":"BY","timeZone":"Europe/Berlin"},"clarifications":[{"askedAt":"2026-03-06","receivedAt":"2026-03-09T10:00:00+01:00"}],"extension":{"noticeAt":"2026-03-20T10:00","until":null},"identity":{"receivedAt":"2026-03-07"},"asOf":"2026-04-01"}';
const publicKey = generateKeyPairSync('ed25519').publicKey;
const cosigners = ([4, 6] as const).map((keyType) => ({
  ...{ keyName: 'w.example/1', keyHash: Buffer.alloc(4, keyType), keyType },
  publicKey:
    keyType === 4 ? Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url') : Buffer.alloc(1312, 3),
}));
const regimes = createRegimeTable();
const timeTexts = [
  '2026-07-01T10:00:00.123+02:00',
  '2026-07-01',
  '1782907200',
  'Wed, 01 Jul 2026 10:00:00 GMT',
  '2026-07-01T10:00',
];

/** Runs a reader of files on bytes. */
function inFile(name: string, bytes: Buffer, read: (folder: string) => unknown): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'consent-ledger-fuzz-'));
  const remove = () => rmSync(folder, { recursive: true });
  mkdirSync(join(folder, 'journal'));
  writeFileSync(join(folder, name), bytes);
  let result: unknown;
  try {
    result = read(folder);
  } catch (error) {
    remove();
    throw error;
  }
  if (result instanceof Promise) return result.finally(remove);
  remove();
  return result;
}

const headersOf = (bytes: Buffer) => {
  const [plain, prefixed, more] = bytes.toString('latin1').split('\n');
  return {
    [SIGNATURE_HEADER]: more === undefined ? plain : [plain ?? '', more],
    ...(prefixed === undefined ? {} : { [SIGNATURE_256_HEADER]: prefixed }),
  };
};

/** The readers of everything that the service, senders, officers and operators hand in. */
export const readers: readonly Reader[] = [
  {
    name: 'signature headers',
    run: (bytes) => verifySignature({ headers: headersOf(bytes), rawBody: bytes, secrets: [SECRET] }),
    corpus: ['0'.repeat(64), `${'a'.repeat(64)}\nsha256=${'a'.repeat(64)}`, 'x\ny\nz'],
    most: 16 * KIB,
  },
  {
    name: 'diagnosis of a signature',
    run: (bytes) =>
      diagnoseSignature({ headers: headersOf(bytes), rawBody: bytes, secrets: [SECRET], otherSecrets: [SECRET] }),
    corpus: [`SHA256=${'A'.repeat(64)}\n"sha256:${'q6ur'.repeat(11)}"`, '{"a": 1}\r\n'],
    most: 64 * KIB,
  },
  {
    name: 'deliveries',
    run: (bytes) => {
      const reading = readDelivery(bytes, context);
      const id = reading.outcome === 'read' && reading.fact.type === 'decision' ? decisionIdOf(reading.fact) : null;
      return [reading, id, eventNameOf(bytes)];
    },
    corpus: [
      decision,
      request,
      `[${request}]`,
      '{"event":"policy.published","data":{"policy":{"id":1,"policy_type":"eula","hosted_url":"https://h.example/p?token=t"}}}',
      '{"event":"scan.completed","data":{"domain":"a.example","cookies":[{"name":"_ga"}],"score":90,"trackers":3}}',
      '{"event":"integration.connected","shop":"a.example","app":"shop","data":"{\\"a\\":1}"}',
      'event=dsar.submitted&email=a%40b.example',
    ],
    stored: true,
  },
  {
    name: 'deliveries by own names of fields',
    run: (bytes) => readDelivery(bytes, named),
    corpus: ['{"meta":{"kind":"hop"},"who":{"key":"k"},"email":"a@b.example"}', decision],
    stored: true,
  },
  {
    name: 'signals',
    run: (bytes) => {
      const [tcf = '', gpp = '', usp = '', additional = '', purpose = ''] = text(bytes).split('\n');
      const signals = {
        tcf,
        gpp,
        us_privacy: usp,
        addtl_consent: additional,
        gpc: usp,
        'consent_mode.ad_storage': usp,
      };
      const decoded = decodeSignals(signals);
      return [decoded, contradictsRecord(decoded, { state: 'given', purposes: { [purpose]: 'granted' } })];
    },
    corpus: [
      'CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA\nDBACNYA~CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA~1YNN\n1YYN\n2~1.2.3~dv.4\ntcf.1',
      'CGL23UdMFJzvuA9ACCENAXCEAC0AAGrAAA5YA5ht7-_d_7_vd-f-nrf4_4A4hM4JCKoK4YhmAqABgAEgAA.IFut_a83_Ma_t-_SvB3v4-IAeIAACAIgSAAQAIAgEQACEABAAAgAQFAEAIAAAGBAAgAAAAQAIFAAMCQAAgAAQiRAEQAAAAANAAIAAggAIYQFAAARmggBC3ZCYzU2yIA.YAAAAAAAAAA\nDBABLA~BVVqAAAAAWA.QA\n1---\n1~35.41\nsale',
    ],
    // Longer ones are not kept with a record.
    most: 64 * KIB,
    stored: true,
  },
  {
    name: 'rows of the consent log',
    run: (bytes) => [
      readConsentRow(bytes, context),
      createRowReader((...parts) => Buffer.from(String(parts.length)), {
        source: 'default',
        names: rowNamesOf(options),
        bannerId: null,
        keyedBy: '',
        runId: 'r',
        page: 1,
        cursorSha256: null,
        serverDate: null,
        receivedAt: RECEIVED,
      }).readRow({ bytes, value: jsonOf(bytes), isUtf8: true }),
    ],
    corpus: [row, decision],
  },
  {
    name: 'discovery of names',
    run: (bytes) =>
      discover(
        [
          { kind: 'delivery', seq: 1, body: bytes, receivedAt: RECEIVED },
          { kind: 'row', seq: 2, body: bytes, receivedAt: RECEIVED },
        ],
        options,
      ),
    corpus: [decision, request, '{"meta":{"kind":"hop"},"mail":"Ann <a@b.example>","host":"a.b.example"}'],
  },
  {
    name: 'pages of the log',
    run: async (bytes) => (await readPage({ bytes, serverDate: null })).rows.map(({ value }) => value),
    corpus: [
      page,
      `[${row}]`,
      '{"error":{"code":"x","message":"y"}}',
      page.replace('1.50', 'NaN'),
      page.slice(0, -30),
      page.replace('"r1"', '"r1'),
    ],
    refuses: ofService,
    most: 16 * MIB,
  },
  {
    name: 'answers to generate, bulk, publish and list',
    run: (bytes) => {
      const found: unknown[] = [readLinks(bytes)];
      for (const read of [readGenerated, readBulkResult, (one: Buffer) => readPublished(one, 'p1')]) {
        try {
          found.push(read(bytes));
        } catch (error) {
          if (!ofService(error)) throw error;
        }
      }
      return found;
    },
    corpus: [
      policies,
      '{"policy":{"id":"p1","policy_type":"privacy_policy","jurisdiction":["EU"],"content":"# x","hosted_url":"https://h.example/p?token=t"},"policies_remaining":3}',
      '{"data":{"batch_id":"b","results":[{"id":1,"type":"eula","status":"created"},{"status":"skipped"}]}}',
      '{"id":"p1","hosted_url":"https://h.example/p","published_at":"2026-07-01T00:00:00Z","webhook_deliveries_queued":1}',
    ],
    most: 16 * MIB,
  },
  {
    name: 'error envelopes',
    run: (bytes) => [
      readEnvelope(text(bytes), 'secret'),
      cleanText(text(bytes), 'secret', 200),
      toolError(text(bytes), 'secret'),
    ],
    corpus: [
      '{"error":{"code":"rate_limited","message":"Slow down, secret"}}',
      'MCP error -32602: {"error":"no"}',
      '{"error":"x"}',
    ],
    most: 16 * MIB,
  },
  {
    name: 'OpenAPI descriptions',
    run: (bytes) => findGoneIn(bytes),
    corpus: [description],
    most: 5 * MIB,
    stored: true,
  },
  {
    name: 'input schemas of the MCP tool',
    run: (bytes) =>
      toToolArguments({ policy_type: 'eula', jurisdiction: 'EU', domain: 'a.example' }, jsonOf(bytes) ?? {}),
    corpus: [
      '{"properties":{"type":{"enum":["EULA"]},"jurisdictions":{"type":"array","items":{"enum":["EU"]}}},"required":["type"],"additionalProperties":false}',
    ],
    refuses: (error) => error instanceof TypeError,
  },
  {
    name: 'texts of policies',
    run: (bytes) => ['text/html', 'application/json', null].map((type) => readPolicyText(bytes, type)),
    corpus: [
      hosted,
      JSON.stringify({ policy: { id: 'p1', html: hosted } }),
      '# Privacy\r\n\r\nhttps://a.example/x?token=t&y=1;key=2',
    ],
    most: 5 * MIB,
    stored: true,
  },
  {
    name: 'comparison of texts',
    run: (bytes) => {
      const side = (name: string, of: Buffer) => ({ name, text: { bytes: of, contentType: 'text/html' } as never });
      return diffTexts(side('a', bytes), side('b', Buffer.from(hosted)), { raw: (bytes[0] ?? 0) % 2 === 0 });
    },
    corpus: [hosted],
    most: 5 * MIB,
  },
  {
    name: 'files of sources',
    run: async (bytes) => {
      const { lines, problems } = readImportCsv(bytes);
      const readers = {
        file: () => Promise.resolve('{'),
        variable: () => null,
        profileProblems: async () => [],
        folder: '/',
      };
      return [problems, await readImportLines(lines.slice(0, 50), readers)];
    },
    corpus: [
      'slug,name,base_url,webhook_secrets,secret_encoding,banners,field_names,assumed_offset\nacme,"Acme, Inc",https://s.example/api/v1,a b,hex,b1 b2,subject=a.b,+01:00\n',
      'Slug;Name;subject recipe file\r\nacme;"x ""y""";r.json\r\n',
    ],
    most: 5 * MIB,
  },
  {
    name: 'bulk files',
    run: (bytes) => parseBulkItems(bytes, 'items.csv'),
    corpus: [
      'policy_type,jurisdiction,language\nprivacy-policy,GB,en\ncookie-policy,US-CA,\n',
      '{"items":[{"policy_type":"eula","jurisdiction":"EU","domain":"a.example"}]}',
    ],
    refuses: usage,
    most: 5 * MIB,
  },
  {
    name: 'ZIP files',
    // Each character is a byte.
    run: (bytes) =>
      inFile('file.zip', Buffer.from(text(bytes), 'latin1'), (folder) =>
        readZip(join(folder, 'file.zip'), { keep: () => true, unpackedBytes: MIB }),
      ),
    corpus: [
      zipBytes([
        { name: 'answer/', content: Buffer.alloc(0), method: 0 },
        { name: 'answer/letter.txt', content: Buffer.from('a letter '.repeat(20)), descriptor: true },
        { name: 'answer/manifest.json', content: Buffer.from('{"files":[]}'), method: 0 },
      ]).toString('latin1'),
    ],
  },
  {
    name: 'files with checkpoints',
    run: findNotes,
    corpus: [
      note,
      JSON.stringify({ checkpoint: { note } }),
      `%PDF-1.7\nstream\n${note}\nendstream`,
      `<pre>${note}</pre>`,
      'PK\x03\x04',
    ],
  },
  {
    name: 'verifier keys',
    run: (bytes) => parseVerifierKey(text(bytes)),
    corpus: [verifierKeyOf('consent-ledger/fuzz/1', publicKey)],
  },
  {
    name: 'cosignatures',
    run: (bytes) => Promise.all(cosigners.map((one) => cosignedAt(one, note, text(bytes)))),
    // So that mutations of the signature are checked as one.
    corpus: cosigners.map(({ keyName, keyHash, keyType }) => {
      const signature = Buffer.concat([
        keyHash,
        Buffer.from('000000006b49d200', 'hex'),
        Buffer.alloc(keyType === 4 ? 64 : 2420, 1),
      ]);
      return `— ${keyName} ${signature.toString('base64')}`;
    }),
  },
  {
    name: 'witness policies',
    run: (bytes) => parseWitnessPolicy(text(bytes)),
    corpus: [
      '# x\nlog k\nwitness a k https://w.example\ngroup g any a\nquorum g\n',
      'bucket b s3://one/two\nquorum none\n',
      '__proto__ b s3://one/two\nquorum none\n',
    ],
  },
  {
    name: 'listings of a bucket',
    run: (bytes) => readVersions(text(bytes)),
    corpus: [
      '<?xml version="1.0"?><ListVersionsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a%20b</NextKeyMarker><Version><Key>a%20b</Key><VersionId>1</VersionId><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>3</Size></Version><DeleteMarker><Key>a&amp;b</Key><VersionId>null</VersionId><LastModified>2026-01-01T00:00:00.000Z</LastModified></DeleteMarker></ListVersionsResult>',
    ],
  },
  { name: 'checkpoint notes', run: (bytes) => readCheckpoint(text(bytes), publicKey), corpus: [note] },
  {
    name: 'journals',
    run: (bytes) =>
      inFile('journal/2026-07-01.notes', bytes, async (folder) => {
        const journal = createJournal(join(folder, 'journal'));
        const parts: unknown[] = [await journal.newest()];
        for await (const part of journal.read()) parts.push(part);
        return parts;
      }),
    corpus: [`${note}\n${note.replace('17', '18')}\n`, `${note}\n${note.slice(0, 40)}`],
  },
  {
    name: '.env',
    run: (bytes) => inFile('.env', bytes, (folder) => loadConfig({}, folder)),
    corpus: [
      'PORT=8080\nexport PUBLIC_URL="https://a.example"\nDATABASE_URL=postgres://u:p@h/d\nSYNC_SCHEDULE=*/5 * * * *\n',
      'WEBHOOK_SECRETS=a,b\nTIME_ZONE=Europe/Berlin\nBODY_LIMIT=1mb\nTRUST_PROXY=10.0.0.0/8, ::1\nADMIN_HOSTS=a.example\nREDIS_URL=redis://h\n# c\nINSTANCE_KEY=q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\n',
    ],
    refuses: usage,
  },
  {
    name: 'controller files',
    run: (bytes) => parseControllerProfile(text(bytes), 'controller.yaml'),
    // The operator's own file, of 256 KiB at most: the YAML library compares each key of a map with every other.
    most: 1 << 14,
    corpus: [
      'name: Acme GmbH\ncountry: DE\nregion: BE\naddress: [a, b]\npurposes:\n  - { purpose: x, lawfulBasis: y, retention: z }\notherSystems:\n  - { id: crm, name: &a CRM }\n  - { id: x, name: *a }\n',
      '{"name":"Acme","noTransfers":true}',
    ],
  },
  {
    name: 'files of regimes',
    run: (bytes) => parseYaml('Regimes file', text(bytes), 'regimes.yaml', regimesFileSchema),
    most: 1 << 14,
    corpus: ['remove: [eu-gdpr]\nconfirmed: []\nadd:\n  - id: x\n    name: X\n    places: [DE]\n'],
  },
  {
    name: 'keys',
    run: (bytes) => [
      parseInstanceKey(text(bytes)),
      parseSigningKey(text(bytes)),
      openSealed(Buffer.alloc(32), bytes, 'x'),
    ],
    corpus: [
      'q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=',
      '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n',
      '\x01'.repeat(60),
    ],
  },
  {
    name: 'times',
    run: (bytes) => [
      parseTime(text(bytes), '+01:00'),
      parseTime(Number(text(bytes)), '+00:00'),
      cronProblem(text(bytes)),
    ],
    corpus: [...timeTexts, '*/15 0-6 * jan,mar mon#1', '@daily'],
  },
  {
    name: 'durations',
    run: (bytes) => durationFrom(text(bytes)),
    corpus: ['90s', '7d'],
    refuses: (error) => error instanceof InvalidArgumentError,
  },
  {
    name: 'headers of rate limits',
    run: (bytes) => {
      const [a = '', b = ''] = text(bytes).split('\n');
      return ['retry-after', 'ratelimit-reset', 'ratelimit'].map((name) =>
        waitFromHeaders({ get: (one) => (one === name ? a : one === 'date' ? b : null) }, 0),
      );
    },
    corpus: [
      '30',
      '6m0s',
      'limit=10, remaining=0, reset=30',
      '"default";r=0;t=30',
      ...timeTexts.map((one) => `${one}\n${one}`),
    ],
    most: 16 * KIB,
  },
  {
    name: 'cases of the deadline calculator',
    run: (bytes) => answerLine(text(bytes), regimes),
    corpus: [caseLine, caseLine.replace('access', 'opt-out').replace('"DE"', '"US-CA"')],
    most: 64 * KIB,
  },
  {
    name: 'moves of cases',
    run: (bytes) => {
      const form = Object.fromEntries(new URLSearchParams(text(bytes)));
      return (Object.keys(moves) as MoveName[]).map((move) => [
        readMove(move, jsonOf(bytes)),
        readFields(moves[move].details, form, 'Europe/Berlin'),
      ]);
    },
    corpus: [
      '{"at":"2026-07-01T10:00:00Z","channel":"e-mail","parts":[{"what":"x","outcome":"done"}],"disclosure":"full"}',
      'at=2026-07-01T10:00&channel=e-mail&parts.0.what=x&parts.0.outcome=refused&until=2026-08-01&purposes=a,b',
      'reasons=x&basis=y&remedies=z&at=2026-03-29T02:30',
    ],
    most: 64 * KIB,
  },
  {
    name: 'subjects',
    run: (bytes) => [
      subjectForms(text(bytes)),
      isSharedMailbox(text(bytes)),
      subjectOfEmail(text(bytes), { algorithm: 'sha256', normalise: 'trim-lowercase', salt: '' }),
    ],
    corpus: ['ab'.repeat(32), `sha256:${'AB'.repeat(32)}`, 'Info+x@Example.org '],
  },
  {
    name: 'names of files',
    run: (bytes) => [shownName(text(bytes)), attachment(text(bytes))],
    corpus: ['a.png', '../../etc/passwd', 'C:\\x\\y.pdf', `${'😀'.repeat(101)}.jpeg`],
    most: 64 * KIB,
    stored: true,
  },
  {
    name: 'files of evidence',
    run: (bytes) => sniffMediaType(bytes),
    corpus: ['<!doctype html><p>', '<?xml version="1.0"?><!-- a --> <!-- b --><html>', '%PDF-1.7', 'RIFFxxxxWEBP'],
    most: 10 * MIB,
  },
  {
    name: 'addresses',
    run: (bytes) => [
      addressGroup(text(bytes)),
      serviceRootOf(text(bytes)),
      serviceOriginOf(text(bytes)),
      linkOf(text(bytes)),
      withoutToken(text(bytes)),
      withoutPasswords(text(bytes)),
    ],
    corpus: ['https://u:p@s.example/api/v1//', '::ffff:10.0.0.1', 'fe80::1%eth0', 'https://h.example/p?token=t#x'],
  },
  {
    name: 'jurisdictions',
    run: (bytes) => [mapJurisdiction(text(bytes)), nearJurisdictions(text(bytes))],
    corpus: ['Germany', 'us-ca', 'Californa', 'The United Kingdom of Great Britain and Northern Ireland'],
  },
];
