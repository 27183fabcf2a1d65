import { isIP } from 'node:net';
import cookie from '@fastify/cookie';
import csrf from '@fastify/csrf-protection';
import formbody from '@fastify/formbody';
import helmet from '@fastify/helmet';
import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import type { Context } from '../context/context.ts';
import { CodedError } from '../core/errors.ts';
import { hmacSha256 } from '../crypto/hash.ts';
import { apiDescription, apiScope } from './api/api.ts';
import { enforceRules, requireRules } from './auth/access.ts';
import { lateForms } from './auth/late-forms.tsx';
import { formOwner, recogniseOfficer, requireCsrf } from './auth/sessions.ts';
import { signInRoutes, signOutRoutes } from './auth/sign-in-routes.tsx';
import { singleSignOnRoutes } from './auth/single-sign-on-routes.tsx';
import { calendarRoutes } from './calendar-feed.ts';
import { keepSourcesCurrent } from './current-sources.ts';
import { answerErrorsWithPages, answersToMalformed } from './error-pages.tsx';
import { endStreamsOnClose } from './event-stream.ts';
import type { Metrics } from './metrics.ts';
import { pageRoutes } from './pages/pages.ts';
import { liveScript, liveScriptPath } from './pages/parts/live-script.ts';
import { passkeyScript, passkeyScriptPath } from './pages/parts/passkey-script.ts';
import { stylesheet, stylesheetPath } from './pages/parts/style.ts';
import { typingScript, typingScriptPath } from './pages/parts/typing-script.ts';
import { type Health, healthRoutes, proxyTrust, requestTimes } from './public.ts';

/**
 * The app of the admin listener: the officers' pages behind a sign-in, and, without one, `/metrics`, `/healthz` and
 * `/readyz` for the operator's own machines. Meant for a private network or a reverse proxy with access control.
 */
export async function createAdminApp(context: Context, metrics: Metrics, health: Health): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: context.log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: proxyTrust(context.config.trustProxy),
    bodyLimit: 65_536,
    ...requestTimes,
    forceCloseConnections: 'idle',
    // A HEAD request must never count as a download.
    exposeHeadRoutes: false,
    ...answersToMalformed,
  }) as unknown as FastifyInstance;
  answerErrorsWithPages(app);
  endStreamsOnClose(app);
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        imgSrc: ['data:'],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
    // TLS ends at the proxy in front, which decides whether this host is HTTPS-only.
    strictTransportSecurity: false,
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store');
    return payload;
  });

  app.addHook('onRequest', refuseForeignHosts(context.config));

  requireRules(app);
  app.get('/metrics', async (_request, reply) => {
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
  await healthRoutes(app, health);
  app.get(stylesheetPath, (_request, reply) =>
    reply
      .header('cache-control', 'public, max-age=31536000, immutable')
      .type('text/css; charset=utf-8')
      .send(stylesheet),
  );
  for (const [path, script] of [
    [passkeyScriptPath, passkeyScript],
    [liveScriptPath, liveScript],
    [typingScriptPath, typingScript],
  ] as const)
    app.get(path, (_request, reply) =>
      reply
        .header('cache-control', 'public, max-age=31536000, immutable')
        .type('text/javascript; charset=utf-8')
        .send(script),
    );
  await apiDescription(app, context);
  await app.register(async (scope) => {
    keepSourcesCurrent(scope, context);
    await scope.register(apiScope, context);
    await scope.register(officePages, context);
  });
  return app;
}

/**
 * Answers only under the pages' own host names: a website can point one of its own names at this machine, and a browser
 * would then treat the admin pages as pages of that site (DNS rebinding). An IP address cannot be taken over in this
 * way. A trusted proxy may send the name that the browser used in X-Forwarded-Host, which links and passkeys use, so it
 * must be one of these names too.
 */
function refuseForeignHosts({ adminHost, adminHosts }: Pick<Context['config'], 'adminHost' | 'adminHosts'>) {
  const own = new Set(['localhost', adminHost.toLowerCase(), ...adminHosts]);
  return async (request: FastifyRequest): Promise<void> => {
    for (const host of [request.raw.headers.host, request.host]) {
      // Browsers always send it.
      if (host === undefined || host === '') continue;
      const name = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host)?.[1]?.toLowerCase().replace(/\.$/, '') ?? '';
      if (!own.has(name) && isIP(name.replace(/^\[|\]$/g, '')) === 0) throw new CodedError('misdirected');
    }
  };
}

/** All routes that use sessions. */
async function officePages(app: FastifyInstance, context: Context): Promise<void> {
  await app.register(cookie);
  await app.register(formbody);
  await app.register(csrf, {
    sessionPlugin: '@fastify/cookie',
    cookieKey: `consent_ledger_form_${context.instance}`,
    cookieOpts: { path: '/', httpOnly: true, sameSite: 'lax', secure: 'auto' },
    csrfOpts: {
      hmacKey: hmacSha256(context.keys.instance.session, Buffer.from('forms')).toString('base64'),
      userInfo: true,
    },
    getUserInfo: formOwner,
    getToken: (request) => (request.body as { _csrf?: string } | null)?._csrf,
  });
  app.decorateRequest('signedIn', null);
  app.addHook('onRequest', (request) => recogniseOfficer(context, request));
  const late = lateForms(app, context);
  enforceRules(app, context, late.askToSignIn);
  late.routes();
  await app.register(signInRoutes, context);
  await app.register(singleSignOnRoutes, context);
  // In its own scope: otherwise its check of the form's token would run before the body of an upload is read.
  await app.register(signOutRoutes, context);
  await calendarRoutes(app, context);
  await app.register(async (guarded) => {
    requireCsrf(guarded);
    // Called instead of registered: they only add routes, and a scope for each would double the time that the listeners
    // take to start.
    for (const page of pageRoutes) if (!page.hasFile) await page.add(guarded, context);
  });
  for (const page of pageRoutes) if (page.hasFile) await page.add(app, context);
}
