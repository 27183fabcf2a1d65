/** The kinds of recipients that age has without a plugin (C2SP age, age-encryption): by the name in the text before its last `1`. */
const native: Readonly<Record<string, 'classical' | 'post-quantum'>> = {
  age: 'classical',
  age1pq: 'post-quantum',
  age1tag: 'classical',
  age1tagpq: 'post-quantum',
};
/** A Bech32 text: a name, `1`, and data without `1`, `b`, `i` and `o`. */
const RECIPIENT = /^(age(?:1[a-z0-9+._-]+)?)1[02-9ac-hj-np-z]{50,}$/;

/** What is wrong with a text as an age recipient, to follow its name in a sentence; null: nothing. Never repeats a private key. */
export function recipientProblem(text: string): string | null {
  if (text.startsWith('AGE-SECRET-KEY-') || text.startsWith('AGE-PLUGIN-'))
    return 'is a private key: use the public key, which begins with age1';
  const name = RECIPIENT.exec(text)?.[1];
  if (name === undefined) return 'is not an age recipient: use a public key, which begins with age1';
  if (native[name] !== undefined) return null;
  return `is for the plugin age-plugin-${name.slice('age1'.length)}, which this program cannot run: use a key of age itself (age1…, age1pq1…, age1tag1… or age1tagpq1…)`;
}

/** Whether every recipient resists a quantum computer; `mixed`: only some do, so the file as a whole would not, and age refuses such a list. */
export function quantumResistance(recipients: readonly string[]): 'all' | 'none' | 'mixed' {
  const resistant = recipients.filter((one) => native[RECIPIENT.exec(one)?.[1] ?? ''] === 'post-quantum').length;
  return resistant === 0 ? 'none' : resistant === recipients.length ? 'all' : 'mixed';
}

/** Why a list that mixes both kinds is refused. */
export const MIXED_RECIPIENTS =
  'mix post-quantum keys (age1pq1…, age1tagpq1…) with others: one that is not post-quantum makes the whole file readable to a quantum computer. Use only one kind';
