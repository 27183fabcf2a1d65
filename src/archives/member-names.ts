/**
 * Checks the names of an archive's files, in order: no name may stand for two files, on any system. Systems differ in
 * case, accents in one or two code points, and trailing dots and spaces, and some change or cut names with other
 * characters. Answers with a phrase, or null for a sound name.
 */
export function createNameCheck(): (name: string, isFolder: boolean) => string | null {
  const named = new Set<string>();
  const files = new Set<string>();
  const folders = new Set<string>();
  return (name, isFolder) => {
    const parts = (isFolder ? name.slice(0, -1) : name).split('/');
    if (name.length > LONGEST || parts.length > DEEPEST) return 'it has very long names';
    if (parts.some((part) => part === '' || /^\.+$/.test(part) || UNSAFE.test(part)))
      return `the name ${JSON.stringify(name)} is not the same on every system`;
    const folded = parts.map(foldName);
    const whole = folded.join('/');
    const around = folded.slice(1).map((_, place) => folded.slice(0, place + 1).join('/'));
    const isTwice = named.has(whole) || (!isFolder && folders.has(whole)) || around.some((one) => files.has(one));
    named.add(whole);
    (isFolder ? folders : files).add(whole);
    for (const one of around) folders.add(one);
    return isTwice ? `it holds two files named ${name}` : null;
  };
}

/** Many systems cut off or refuse longer names; files of a pack have at most 60 characters, in one folder. */
const LONGEST = 500;
const DEEPEST = 16;

/** Control characters and those of other directions too: a name is shown to people. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\:*?"<>|]/u;

function foldName(part: string): string {
  return part
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC')
    .replace(/[. ]+$/, '');
}
