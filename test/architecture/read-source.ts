import ts from 'typescript';

/** One import, re-export or `import()` of a file. */
export interface Import {
  readonly specifier: string;
  /** Erased by the compiler: `import type`, `export type … from`, `typeof import('…')` in a type. */
  readonly typeOnly: boolean;
  readonly reExport: boolean;
  /** `import()`: loaded on demand. */
  readonly lazy: boolean;
}

/** What the rules need to know about one source file. */
export interface SourceFacts {
  readonly imports: readonly Import[];
  readonly readsEnvironment: boolean;
  readonly exits: boolean;
  /** Names of the functions called that query the database, begin a transaction or append an entry, in order. */
  readonly storage: readonly string[];
  /** Lines that name the type `Context` whole: not a part of it (`Pick<Context, …>`, `Context['config']`, `keyof Context`). */
  readonly wholeContexts: readonly number[];
  /** Functions with a body and five or more parameters, by name. */
  readonly longSignatures: readonly string[];
  /** Only imports and re-exports, no code. */
  readonly isBarrel: boolean;
}

/** Parses one file. Text inside strings and comments is ignored. */
export function readSource(path: string, text: string): SourceFacts {
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true, kind);
  const imports: Import[] = [];
  const storage: string[] = [];
  const wholeContexts: number[] = [];
  const longSignatures: string[] = [];
  let readsEnvironment = false;
  let exits = false;

  const note = (specifier: ts.Node | undefined, typeOnly: boolean, reExport = false, lazy = false): void => {
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) {
      imports.push({ specifier: specifier.text, typeOnly, reExport, lazy });
    }
  };
  const noteProcessMember = (member: string): void => {
    if (member === 'env') readsEnvironment = true;
    if (member === 'exit' || member === 'reallyExit') exits = true;
  };

  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      note(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
      if (isProcessModule(node.moduleSpecifier)) for (const name of importedNames(node)) noteProcessMember(name);
    } else if (ts.isExportDeclaration(node)) {
      note(node.moduleSpecifier, node.isTypeOnly, true);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      note(node.argument.literal, true);
    } else if (ts.isCallExpression(node) && isLoader(node.expression)) {
      note(node.arguments[0], false, false, true);
    } else if (ts.isPropertyAccessExpression(node) && isProcess(node.expression)) {
      noteProcessMember(node.name.text);
    } else if (ts.isElementAccessExpression(node) && isProcess(node.expression)) {
      if (ts.isStringLiteralLike(node.argumentExpression)) noteProcessMember(node.argumentExpression.text);
    } else if (ts.isVariableDeclaration(node) && node.initializer !== undefined && isProcess(node.initializer)) {
      if (ts.isObjectBindingPattern(node.name)) {
        for (const element of node.name.elements)
          noteProcessMember((element.propertyName ?? element.name).getText(file));
      }
    }
    if (ts.isCallExpression(node)) {
      const name = calledName(node.expression);
      if (storageCalls.has(name) || /\bledger\.append$/.test(node.expression.getText(file))) storage.push(name);
    }
    if (isTypeNamed(node, 'Context') && !namesPartOf(node))
      wholeContexts.push(file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1);
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined && node.parameters.length >= 5)
      longSignatures.push(node.name?.getText(file) ?? '(no name)');
    ts.forEachChild(node, visit);
  };
  visit(file);

  const statements = file.statements;
  const isBarrel =
    statements.some((statement) => ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined) &&
    statements.every((statement) => ts.isExportDeclaration(statement) || ts.isImportDeclaration(statement));
  return { imports, readsEnvironment, exits, storage, wholeContexts, longSignatures, isBarrel };
}

/**
 * The entrances of the query builder and of a store's transaction, and the functions that append an entry of any kind;
 * those for one kind (`appendDelivery`, `appendView`) are use cases.
 */
const storageCalls: ReadonlySet<string> = new Set([
  'selectFrom',
  'selectNoFrom',
  'insertInto',
  'replaceInto',
  'mergeInto',
  'updateTable',
  'deleteFrom',
  'transaction',
  'insertMany',
  'insertEntries',
  'appendAction',
  'appendCall',
]);

function calledName(callee: ts.Expression): string {
  if (ts.isPropertyAccessExpression(callee)) return callee.name.text;
  return ts.isIdentifier(callee) ? callee.text : '';
}

function isTypeNamed(node: ts.Node, name: string): node is ts.TypeReferenceNode | ts.ExpressionWithTypeArguments {
  if (ts.isTypeReferenceNode(node)) return ts.isIdentifier(node.typeName) && node.typeName.text === name;
  return ts.isExpressionWithTypeArguments(node) && ts.isIdentifier(node.expression) && node.expression.text === name;
}

/** Whether a type is named only to take a part of it. */
function namesPartOf({ parent }: ts.Node): boolean {
  return (
    isTypeNamed(parent, 'Pick') ||
    ts.isIndexedAccessTypeNode(parent) ||
    (ts.isTypeOperatorNode(parent) && parent.operator === ts.SyntaxKind.KeyOfKeyword)
  );
}

function isLoader(callee: ts.Expression): boolean {
  return callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require');
}

function isProcess(node: ts.Expression): boolean {
  if (ts.isPropertyAccessExpression(node))
    return node.name.text === 'process' && node.expression.getText() === 'globalThis';
  return ts.isIdentifier(node) && node.text === 'process';
}

function isProcessModule(specifier: ts.Expression): boolean {
  return ts.isStringLiteralLike(specifier) && (specifier.text === 'node:process' || specifier.text === 'process');
}

function importedNames(node: ts.ImportDeclaration): readonly string[] {
  const bindings = node.importClause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return [];
  return bindings.elements.map((element) => (element.propertyName ?? element.name).text);
}
