import { moves } from '../../cases/moves.ts';
import { errorCodes } from '../../core/errors.ts';
import { Page, renderPage } from '../pages/parts/layout.tsx';
import { Panel, Table } from '../pages/parts/parts.tsx';
import { errorsOf, schemaOf } from './openapi.ts';
import type { ApiRoute } from './route.ts';

/** The reference of the API, generated from the same routes as /openapi.json. */
export function referencePage(routes: readonly ApiRoute[]): string {
  const components: Record<string, unknown> = {};
  const text = (schema: unknown) => JSON.stringify(schema, null, 2);
  const parts = routes.map((route) => ({
    route,
    body: route.body === null ? null : text(schemaOf(route.body, 'input', components)),
    answer: route.answer === null ? null : text(schemaOf(route.answer, 'output', components)),
    parameters: [
      ...Object.entries(propertiesOf(route.params)).map(([name, about]) => ({ name, where: 'address', about })),
      ...Object.entries(propertiesOf(route.query)).map(([name, about]) => ({ name, where: 'query', about })),
    ],
  }));
  const tags = [...new Set(routes.map(({ tag }) => tag))];
  return renderPage(
    <Page title="API reference" frame={null}>
      <h1>API reference</h1>
      <p class="lead">
        Send an API token as <code>Authorization: Bearer clt_…</code>. Create tokens under{' '}
        <a href="/account#tokens">Your account</a>. For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI
        3.1).
      </p>
      {tags.map((tag) => (
        <Panel key={tag} id={`tag-${tag.toLowerCase().replaceAll(/\W+/g, '-')}`} title={tag}>
          {parts
            .filter(({ route }) => route.tag === tag)
            .map(({ route, parameters, body, answer }) => (
              <details key={route.name} id={route.name}>
                <summary>
                  <code>
                    {route.method} {route.path}
                  </code>{' '}
                  <span class="soft">{route.summary}</span>
                </summary>
                {route.description === undefined ? null : <p>{route.description}</p>}
                {parameters.length === 0 ? null : (
                  <Table
                    caption="Parameters"
                    columns={[
                      { title: 'Name', cell: ({ name }) => <code>{name}</code> },
                      { title: 'In', cell: ({ where }) => where },
                      { title: 'What', cell: ({ about }) => about },
                    ]}
                    rows={parameters}
                  />
                )}
                {body === null ? null : <Schema title="Body" text={body} />}
                {answer === null ? (
                  <p>Returns the file.</p>
                ) : (
                  <Schema title={`Answer (${route.status})`} text={answer} />
                )}
                <p class="small">Errors: {[...new Set(errorsOf(route))].join(', ')}.</p>
              </details>
            ))}
        </Panel>
      ))}
      <Panel id="moves" title="Moves of a request">
        {Object.entries(moves).map(([name, { label, details }]) => (
          <details key={name}>
            <summary>
              <code>{name}</code> <span class="soft">{label}</span>
            </summary>
            <Schema title="details" text={text(schemaOf(details, 'input', components))} />
          </details>
        ))}
      </Panel>
      <Panel id="schemas" title="Schemas">
        {Object.entries(components).map(([name, schema]) => (
          <details key={name}>
            <summary>{name}</summary>
            <Schema title={name} text={text(schema)} />
          </details>
        ))}
      </Panel>
      <Panel id="errors" title="Errors">
        <p>
          Errors are <code>application/problem+json</code> (RFC 9457) with type, title, status, code, detail and, where
          there can be several, problems.
        </p>
        <dl class="facts">
          {Object.entries(errorCodes).map(([code, { status, text: meaning }]) => (
            <>
              <dt id={`error-${code}`}>
                <code>{code}</code> {status}
              </dt>
              <dd>{meaning}</dd>
            </>
          ))}
        </dl>
      </Panel>
    </Page>,
  );
}

function Schema({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h3>{title}</h3>
      <pre class="mono small">{text}</pre>
    </>
  );
}

function propertiesOf(fields: ApiRoute['params']): Readonly<Record<string, string>> {
  const { properties = {} } = schemaOf(fields, 'input', {}) as {
    properties?: Record<string, { description?: string; enum?: readonly string[]; type?: string }>;
  };
  return Object.fromEntries(
    Object.entries(properties).map(([name, { description, enum: values, type }]) => [
      name,
      [description, values?.join(', ') ?? type].filter((part) => part !== undefined).join(' '),
    ]),
  );
}
