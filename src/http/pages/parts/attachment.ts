import { safeFileName } from '../../../documents/file-name.ts';

/** The header Content-Disposition of a download (RFC 6266): a plain name for every browser, and the exact name in addition. */
export function attachment(name: string): string {
  const fileName = safeFileName(name);
  const plain = fileName.replace(/[^\w.-]+/g, '_');
  const exact = encodeURIComponent(Buffer.from(fileName).toString()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
