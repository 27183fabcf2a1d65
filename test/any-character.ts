import fc from 'fast-check';

const SURROGATES = 0x800;
const FIRST_SURROGATE = 0xd800;

/**
 * Any Unicode character, like fast-check's unit `binary`, but without the second of CPU time that its table of all
 * characters costs each process. The unmapper lets `fc.string` mix in its dangerous words.
 */
export const anyCharacter = fc.integer({ min: 0, max: 0x10ffff - SURROGATES }).map(
  (n) => String.fromCodePoint(n < FIRST_SURROGATE ? n : n + SURROGATES),
  (value) => {
    const codePoint = typeof value === 'string' ? (value.codePointAt(0) ?? -1) : -1;
    const isSurrogate = codePoint >= FIRST_SURROGATE && codePoint < FIRST_SURROGATE + SURROGATES;
    if (codePoint < 0 || isSurrogate || String.fromCodePoint(codePoint) !== value) throw new Error('not one character');
    return codePoint < FIRST_SURROGATE ? codePoint : codePoint - SURROGATES;
  },
);
