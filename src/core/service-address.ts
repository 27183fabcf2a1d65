/** The API root of the service without a slash at its end; null when the text is no URL ending in /api/v1 (docs/service.md §4, §9). */
export function serviceRootOf(text: string): string | null {
  const url = webUrlOf(text);
  if (url === null || url.search !== '' || url.hash !== '' || !/\/api\/v1\/?$/.test(url.pathname)) return null;
  return urlWithoutSlash(url);
}

/** The public origin of the service; null when the text is more or less than an origin. */
export function serviceOriginOf(text: string): string | null {
  const url = webUrlOf(text);
  return url === null || url.pathname !== '/' || url.search !== '' || url.hash !== '' ? null : url.origin;
}

/** An http(s) URL without credentials in it; null when it is none. */
export function webUrlOf(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === ''
    ? url
    : null;
}

/** Origin and path, without slashes at the end. */
export function urlWithoutSlash(url: URL): string {
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
