/** The address of the public listener: as configured, else the one that a browser on this machine would use. `port` is the one really bound. */
export function publicUrlOf(
  config: { readonly publicUrl: string | null; readonly host: string },
  port: number,
): string {
  if (config.publicUrl !== null) return config.publicUrl;
  const host = config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
